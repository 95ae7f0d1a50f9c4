// SPDX-License-Identifier: BSD-3-Clause
// Operations on the memory of other processes.
#include "components/osc/pt2pt/module.h"
#include "frameworks/osc/combine.h"
#include "object/convertor.h"
#include "object/error_cause.h"
#include "object/type_description.h"

#include <cstring>
#include <new>

namespace patchbay::osc::pt2pt {

namespace {

std::size_t bytes_of(const Origin* origin) noexcept {
    return origin == nullptr ? 0 : std::size_t(origin->count) * std::size_t(origin->type->size);
}

// How many bytes of data travel in the control message, and by the flags what does not.
std::size_t payload_of(const Plan& plan, Header& header, std::size_t most) noexcept {
    const std::size_t payload = bytes_of(plan.origin) + (plan.compare != nullptr ? header.bytes : 0);
    const bool data_apart = payload > most;
    const bool result_apart = plan.result != nullptr && header.bytes > most;
    header.flags = std::uint8_t((data_apart ? flag_data_apart : 0) | (result_apart ? flag_result_apart : 0));
    return data_apart ? 0 : payload;
}

void pack_payload(const Plan& plan, OutMessage& message) noexcept {
    if (message.header.payload == 0) {
        return;
    }
    const std::size_t bytes = bytes_of(plan.origin);
    Convertor(*plan.origin->type, plan.origin->count, plan.origin->buffer).pack(message.data(), bytes);
    if (plan.compare != nullptr) {
        std::memcpy(message.data() + bytes, plan.compare, message.header.bytes);
    }
}

// For each operation: a lock of MPI_Win_lock_all, a datatype, and the operation.
constexpr std::uint64_t credits_of_operation = 3;

} // namespace

int Pt2pt::issue(const Plan& plan, Request** request) noexcept {
    UniqueLock lock(_lock);
    try {
        return issue(plan, request, peer_of(plan.target.rank), lock);
    } catch (const std::bad_alloc&) {
        return note_cause(MPI_ERR_NO_MEM, "osc/pt2pt: no memory for an operation");
    }
}

int Pt2pt::issue(const Plan& plan, Request** request, Peer& peer, UniqueLock& lock) {
    int code = reserve(peer, credits_of_operation, lock);
    code = code == MPI_SUCCESS && peer.lock_refused ? take_error(peer) : code;
    if (code == MPI_SUCCESS && _locked_all && !_unchecked_all && !peer.locked) {
        code = ask_for_lock(peer, flag_lock_all);
    }
    Header header;
    code = code == MPI_SUCCESS ? name_target(peer, plan, header) : code;
    if (code != MPI_SUCCESS) {
        return code;
    }
    header.payload = std::uint32_t(payload_of(plan, header, _agreed.inline_bytes));
    const bool data_apart = (header.flags & flag_data_apart) != 0;
    std::unique_ptr<RmaRequest> rma(request != nullptr ? new RmaRequest(_comm, _progress) : nullptr);
    Operation* const operation = data_apart || plan.result != nullptr ? make_operation(peer) : nullptr;
    header.operation = operation != nullptr ? operation->slot : 0;
    code =
        operation != nullptr && plan.result != nullptr ? expect_result(*operation, *plan.result, header) : MPI_SUCCESS;
    OutMessage* const message = code == MPI_SUCCESS ? make_message(plan.kind, header.payload) : nullptr;
    if (message != nullptr) {
        message->header = header;
        pack_payload(plan, *message);
        code = send_numbered(peer, message);
    } else if (code == MPI_SUCCESS) {
        code = MPI_ERR_NO_MEM;
    }
    if (code != MPI_SUCCESS) {
        give_up(operation);
        return code;
    }
    if (rma) {
        *request = rma.get();
    }
    if (operation == nullptr) {
        if (rma) {
            rma.release()->end(MPI_SUCCESS);
        }
        return MPI_SUCCESS;
    }
    operation->request = rma.release();
    if (data_apart) {
        return run_operation(*operation, plan.origin, put_tag(header.data));
    }
    return run_operation(*operation, nullptr, 0);
}

// Fills in the target's side of the header. A block of memory needs no description of its datatype.
int Pt2pt::name_target(Peer& peer, const Plan& plan, Header& header) {
    const Target& target = plan.target;
    const Datatype& type = *target.type;
    header.kind = plan.kind;
    header.op = plan.op;
    header.data = peer.next_data++;
    header.place = target.place;
    header.count = target.count;
    header.bytes = std::uint64_t(target.count) * std::uint64_t(type.size);
    if (type.basic != 0) {
        header.basic = type.basic;
        return MPI_SUCCESS;
    }
    const bool any_element = plan.kind == Kind::put || plan.kind == Kind::get;
    const Datatype* const element = any_element ? &_byte : Predefined<Datatype>::table[element_type(type)];
    if (type.dense && element != nullptr && element->dense) {
        header.basic = element->basic;
        header.place += std::uint64_t(type.true_lower_bound);
        header.count = MPI_Count(header.bytes / std::uint64_t(element->size));
        return MPI_SUCCESS;
    }
    for (std::size_t i = 0; i < peer.types.size(); ++i) {
        if (peer.types[i].get() == &type) {
            header.type = std::uint16_t(i);
            return MPI_SUCCESS;
        }
    }
    header.type = std::uint16_t(peer.next_type % known_types);
    return send_type(peer, type, header.type);
}

// The datatype is kept, so that no other one can have its address.
int Pt2pt::send_type(Peer& peer, const Datatype& type, std::uint16_t number) {
    std::vector<std::int64_t> words;
    if (const int code = describe_type(type, &words); code != MPI_SUCCESS) {
        return code;
    }
    peer.types.resize(known_types);
    const std::size_t bytes = words.size() * sizeof words[0];
    const bool apart = bytes > _agreed.inline_bytes;
    Operation* const operation = apart ? make_operation(peer) : nullptr;
    OutMessage* const message = make_message(Kind::type, apart ? 0 : bytes);
    if (message == nullptr) {
        give_up(operation);
        return MPI_ERR_NO_MEM;
    }
    Header& header = message->header;
    header.type = number;
    header.bytes = bytes;
    header.flags = apart ? flag_data_apart : 0;
    header.data = peer.next_data++;
    const int tag = put_tag(header.data);
    if (!apart) {
        std::memcpy(message->data(), words.data(), bytes);
    }
    if (const int code = send_numbered(peer, message); code != MPI_SUCCESS) {
        give_up(operation);
        return code;
    }
    peer.types[number] = Ref<Datatype>::share(const_cast<Datatype*>(&type));
    ++peer.next_type;
    if (operation == nullptr) {
        return MPI_SUCCESS;
    }
    operation->description = std::move(words);
    const Origin data{operation->description.data(), MPI_Count(bytes), &_byte};
    return run_operation(*operation, &data, tag);
}

} // namespace patchbay::osc::pt2pt
