// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <pmix.h>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::launch {

pmix_proc_t make_proc(const std::string& nspace, pmix_rank_t rank);

// Builds and owns an array of pmix_info_t.
class InfoList {
public:
    InfoList() = default;
    InfoList(InfoList&& other) noexcept
        : _infos(std::move(other._infos)) {
        other._infos.clear();
    }
    InfoList(const InfoList&) = delete;
    InfoList& operator=(const InfoList&) = delete;
    ~InfoList();

    void add_string(const char* key, const std::string& value) { add(key, value.c_str(), PMIX_STRING); }
    void add_regex(const char* key, const char* value) { add(key, value, PMIX_REGEX); }
    void add_u16(const char* key, std::uint16_t value) { add(key, &value, PMIX_UINT16); }
    void add_u32(const char* key, std::uint32_t value) { add(key, &value, PMIX_UINT32); }
    void add_size(const char* key, std::size_t value) { add(key, &value, PMIX_SIZE); }
    void add_u64(const char* key, std::uint64_t value) { add(key, &value, PMIX_UINT64); }
    void add_rank(const char* key, pmix_rank_t value) { add(key, &value, PMIX_PROC_RANK); }
    void add_flag(const char* key) { add(key, nullptr, PMIX_BOOL); } // true
    void add_proc(const char* key, const pmix_proc_t& value) { add(key, &value, PMIX_PROC); }
    void add_procs(const char* key, const std::vector<pmix_proc_t>& value);
    void add_bytes(const char* key, std::string_view value);
    void add_list(const char* key, InfoList value);
    // Refers to the topology without owning it.
    void add_topology(const char* key, pmix_topology_t* value);

    pmix_info_t* data() { return _infos.data(); }
    std::size_t size() const { return _infos.size(); }

private:
    void add(const char* key, const void* value, pmix_data_type_t type);
    pmix_info_t& append(const char* key);

    std::vector<pmix_info_t> _infos;
};

// The processes in a data array of PMIX_PROC; empty if the value is something else.
std::vector<pmix_proc_t> procs_in(const pmix_value_t& value);

// The text; empty: the value is none, or null, which a PMIx client may send.
std::string_view text_of(const pmix_value_t& value);

// The first text among `infos` with that key; nullptr: there is none.
const char* find_text(const pmix_info_t* infos, std::size_t count, std::string_view key);
// The same, or an empty text.
std::string text_in(const pmix_info_t* infos, std::size_t count, std::string_view key);

} // namespace patchbay::launch
