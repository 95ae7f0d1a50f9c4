// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/info_list.h"

#include <cstring>

namespace patchbay::launch {

pmix_proc_t make_proc(const std::string& nspace, pmix_rank_t rank) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, nspace.c_str(), rank);
    return proc;
}

InfoList::~InfoList() {
    for (pmix_info_t& info : _infos) {
        PMIX_INFO_DESTRUCT(&info);
    }
}

pmix_info_t& InfoList::append(const char* key) {
    pmix_info_t& info = _infos.emplace_back();
    PMIX_INFO_CONSTRUCT(&info);
    PMIX_LOAD_KEY(info.key, key);
    return info;
}

void InfoList::add(const char* key, const void* value, pmix_data_type_t type) {
    PMIX_INFO_LOAD(&append(key), key, value, type);
}

void InfoList::add_procs(const char* key, const std::vector<pmix_proc_t>& value) {
    pmix_info_t& info = append(key);
    info.value.type = PMIX_DATA_ARRAY;
    PMIX_DATA_ARRAY_CREATE(info.value.data.darray, value.size(), PMIX_PROC);
    if (!value.empty()) {
        std::memcpy(info.value.data.darray->array, value.data(), value.size() * sizeof(pmix_proc_t));
    }
}

void InfoList::add_bytes(const char* key, std::string_view value) {
    pmix_byte_object_t bytes;
    bytes.bytes = const_cast<char*>(value.data()); // copied
    bytes.size = value.size();
    add(key, &bytes, PMIX_BYTE_OBJECT);
}

void InfoList::add_list(const char* key, InfoList value) {
    pmix_info_t& info = append(key);
    info.value.type = PMIX_DATA_ARRAY;
    PMIX_DATA_ARRAY_CREATE(info.value.data.darray, value.size(), PMIX_INFO);
    // The ownership of the entries changes; the data to which they point is not copied.
    std::memcpy(info.value.data.darray->array, value.data(), value.size() * sizeof(pmix_info_t));
    value._infos.clear();
}

void InfoList::add_topology(const char* key, pmix_topology_t* value) {
    pmix_info_t& info = append(key);
    info.value.type = PMIX_TOPO;
    info.value.data.topo = value;
    info.flags = PMIX_INFO_PERSISTENT; // PMIX_INFO_DESTRUCT does not free the value
}

std::vector<pmix_proc_t> procs_in(const pmix_value_t& value) {
    if (value.type != PMIX_DATA_ARRAY || value.data.darray == nullptr || value.data.darray->type != PMIX_PROC) {
        return {};
    }
    const auto* procs = static_cast<const pmix_proc_t*>(value.data.darray->array);
    return {procs, procs + value.data.darray->size};
}

std::string_view text_of(const pmix_value_t& value) {
    return value.type == PMIX_STRING && value.data.string != nullptr ? value.data.string : std::string_view();
}

const char* find_text(const pmix_info_t* infos, std::size_t count, std::string_view key) {
    for (std::size_t i = 0; i < count; ++i) {
        if (infos[i].key == key && infos[i].value.type == PMIX_STRING) {
            return infos[i].value.data.string;
        }
    }
    return nullptr;
}

std::string text_in(const pmix_info_t* infos, std::size_t count, std::string_view key) {
    const char* text = find_text(infos, count, key);
    return text == nullptr ? "" : text;
}

} // namespace patchbay::launch
