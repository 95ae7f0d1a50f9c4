// SPDX-License-Identifier: BSD-3-Clause
// What the operations of other processes do with the memory of this one.
#include "components/osc/pt2pt/module.h"
#include "frameworks/osc/combine.h"
#include "object/convertor.h"
#include "object/recipe.h"

#include <cstring>
#include <new>

namespace patchbay::osc::pt2pt {

namespace {

bool has_result(Kind kind) noexcept {
    return kind == Kind::get || kind == Kind::get_accumulate || kind == Kind::fetch_and_op ||
        kind == Kind::compare_and_swap;
}

const Datatype* predefined(unsigned index) noexcept {
    return Predefined<Datatype>::table[index];
}

const Op* op_of(const Header& header) noexcept {
    const auto handle = reinterpret_cast<MPI_Op>(std::uintptr_t(header.op));
    const Op* op = to_object<Op>(handle);
    return op != nullptr && op->is_predefined() ? op : nullptr;
}

} // namespace

// Everything that has come from another process is checked here.
Pt2pt::Access Pt2pt::find_access(const Peer& origin, const Header& header) const noexcept {
    Access access;
    if (header.basic != 0) {
        access.type = predefined(header.basic);
    } else if (header.type < origin.its_types.size()) {
        access.type = origin.its_types[header.type].get();
    }
    const Datatype* const type = access.type;
    if (type == nullptr || !type->exists()) {
        access.code = MPI_ERR_TYPE;
    } else if (header.count <= 0 || header.bytes == 0 || Wide(type->size) * header.count != Wide(header.bytes)) {
        access.code = MPI_ERR_COUNT;
    } else {
        access.code = _memory.find(header.place, header.count, *type, &access.memory);
    }
    return access;
}

// An error that the origin gets: with the result, if there is one, otherwise with an acknowledgement.
void Pt2pt::report(Peer& origin, const Header& header, int code) noexcept {
    if (!has_result(header.kind)) {
        origin.report = origin.report == MPI_SUCCESS ? code : origin.report;
        return;
    }
    OutMessage* message = make_message(Kind::result, 0);
    if (message == nullptr) {
        out_of_memory();
    }
    message->header.operation = header.operation;
    message->header.error = code;
    if (send(origin, message) == MPI_ERR_NO_MEM) {
        out_of_memory();
    }
}

// The data of the origin is received all the same, so that its message ends.
bool Pt2pt::refuse(Peer& origin, const Header& header, int code, Entry* entry) {
    report(origin, header, code);
    if (entry == nullptr || (header.flags & flag_data_apart) == 0) {
        return true;
    }
    entry->refused = true;
    return receive_data(*entry, nullptr, 0, _byte);
}

bool Pt2pt::begin_put(Peer& origin, const Header& header, const std::byte* data, Entry* entry) {
    const Access access = find_access(origin, header);
    if (access.code != MPI_SUCCESS) {
        return refuse(origin, header, access.code, entry);
    }
    if (entry != nullptr && (header.flags & flag_data_apart) != 0) {
        return receive_data(*entry, access.memory, header.count, *access.type);
    }
    if (header.payload != header.bytes) {
        return refuse(origin, header, MPI_ERR_COUNT, entry);
    }
    Convertor(*access.type, header.count, access.memory).unpack(data, header.bytes);
    return true;
}

bool Pt2pt::begin_get(Peer& origin, const Header& header, Entry* entry) {
    const Access access = find_access(origin, header);
    if (access.code != MPI_SUCCESS) {
        return refuse(origin, header, access.code, entry);
    }
    if (entry != nullptr && (header.flags & flag_result_apart) != 0) {
        return send_result(*entry, access.memory, header.count, *access.type);
    }
    if (header.bytes > _agreed.inline_bytes) {
        return refuse(origin, header, MPI_ERR_COUNT, entry);
    }
    OutMessage* message = make_message(Kind::result, header.bytes);
    if (message == nullptr) {
        out_of_memory();
    }
    message->header.operation = header.operation;
    Convertor(*access.type, header.count, access.memory).pack(message->data(), header.bytes);
    if (send(origin, message) == MPI_ERR_NO_MEM) {
        out_of_memory();
    }
    return true;
}

bool Pt2pt::begin_accumulate(Peer& origin, const Header& header, const std::byte* data, Entry* entry) {
    if (entry == nullptr || (header.flags & flag_data_apart) == 0) {
        return apply(origin, header, data, entry);
    }
    const Access access = find_access(origin, header);
    if (access.code != MPI_SUCCESS) {
        return refuse(origin, header, access.code, entry);
    }
    entry->data.reset(new (std::nothrow) std::byte[header.bytes]);
    if (!entry->data) {
        return refuse(origin, header, MPI_ERR_NO_MEM, entry);
    }
    entry->has_data = true;
    return receive_data(*entry, entry->data.get(), MPI_Count(header.bytes), _byte);
}

// The update itself. `data` is packed.
bool Pt2pt::apply(Peer& origin, const Header& header, const std::byte* data, Entry* entry) {
    const Access access = find_access(origin, header);
    if (access.code != MPI_SUCCESS) {
        report(origin, header, access.code);
        return true;
    }
    const bool apart = (header.flags & flag_data_apart) != 0;
    const std::uint64_t needed = header.kind == Kind::compare_and_swap           ? 2 * header.bytes
        : header.op == std::uint8_t(reinterpret_cast<std::uintptr_t>(MPI_NO_OP)) ? 0
                                                                                 : header.bytes;
    const bool result_apart = entry != nullptr && (header.flags & flag_result_apart) != 0;
    if ((!apart && header.payload < needed) ||
        (!result_apart && has_result(header.kind) && header.bytes > _agreed.inline_bytes)) {
        report(origin, header, MPI_ERR_COUNT);
        return true;
    }
    OutMessage* message = nullptr;
    if (result_apart) {
        entry->result.reset(new std::byte[header.bytes]);
        Convertor(*access.type, header.count, access.memory).pack(entry->result.get(), header.bytes);
    } else if (has_result(header.kind)) {
        message = make_message(Kind::result, header.bytes);
        if (message == nullptr) {
            out_of_memory();
        }
        message->header.operation = header.operation;
        Convertor(*access.type, header.count, access.memory).pack(message->data(), header.bytes);
    }
    const int code = combine_elements(header, access, data);
    if (code != MPI_SUCCESS) {
        if (message != nullptr) {
            free_message(message);
        }
        report(origin, header, code);
        return true;
    }
    if (message != nullptr && send(origin, message) == MPI_ERR_NO_MEM) {
        out_of_memory();
    }
    return !result_apart || send_result(*entry, entry->result.get(), MPI_Count(header.bytes), _byte);
}

int Pt2pt::combine_elements(const Header& header, const Access& access, const std::byte* data) {
    const Datatype* const element = predefined(element_type(*access.type));
    if (element == nullptr || header.bytes % std::uint64_t(element->size) != 0) {
        return MPI_ERR_TYPE;
    }
    if (header.kind == Kind::compare_and_swap) {
        std::byte present[64];
        if (header.bytes > sizeof present || element->size != MPI_Count(header.bytes)) {
            return MPI_ERR_TYPE;
        }
        Convertor memory(*access.type, header.count, access.memory);
        memory.pack(present, header.bytes);
        if (std::memcmp(present, data + header.bytes, header.bytes) == 0) {
            memory.seek(0);
            memory.unpack(data, header.bytes);
        }
        return MPI_SUCCESS;
    }
    const Op* const op = op_of(header);
    if (op == nullptr) {
        return MPI_ERR_OP;
    }
    if (op == to_object<Op>(MPI_NO_OP)) {
        return MPI_SUCCESS;
    }
    const MPI_Count count = MPI_Count(header.bytes) / element->size;
    if (element->dense) {
        return combine(*op, data, count, *element, access.memory, header.count, *access.type);
    }
    // A pair with padding: packed elements have none.
    const std::unique_ptr<std::byte[]> spread(new std::byte[std::size_t(count) * std::size_t(element->extent)]);
    Convertor(*element, count, spread.get()).unpack(data, header.bytes);
    return combine(*op, spread.get(), count, *element, access.memory, header.count, *access.type);
}

bool Pt2pt::receive_data(Entry& entry, void* buffer, MPI_Count count, const Datatype& type) noexcept {
    const int code =
        _pml.irecv(buffer, count, type, entry.peer.rank, put_tag(entry.header.data), _comm, &entry.request);
    if (code != MPI_SUCCESS) {
        out_of_memory(); // the message of the origin would wait for ever
    }
    return wait_for_message(entry);
}

bool Pt2pt::send_result(Entry& entry, const void* buffer, MPI_Count count, const Datatype& type) noexcept {
    const int code = _pml.isend(buffer, count, type, entry.peer.rank, get_tag(entry.header.data),
        pml::SendMode::standard, _comm, &entry.request);
    if (code != MPI_SUCCESS) {
        report(entry.peer, entry.header, code);
        return true;
    }
    return wait_for_message(entry);
}

// Always by way of entry_ready(), so that the messages of an origin do not nest.
bool Pt2pt::wait_for_message(Entry& entry) noexcept {
    ++_under_way;
    entry.open();
    static_cast<void>(entry.request->attach(entry));
    if (entry.close()) {
        entry.post();
    }
    return false;
}

} // namespace patchbay::osc::pt2pt
