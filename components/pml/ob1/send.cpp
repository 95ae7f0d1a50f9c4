// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"
#include "core/log.h"
#include "core/progress/waiter.h"

#include <algorithm>

namespace patchbay::pml::ob1 {

using btl::SendCode;

int Ob1::send(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
    Communicator& comm) noexcept {
    CommState& state = state_of(comm);
    if (mode != SendMode::synchronous && type.dense) [[likely]] {
        Guard guard(*this);
        RankState* target = state.find_rank(dest);
        const std::size_t bytes = std::size_t(count) * std::size_t(type.size);
        if (goes_direct(target, bytes)) [[likely]] {
            const void* from = static_cast<const std::byte*>(buffer) + type.true_lower_bound;
            if (send_direct(*target, tag, 0, from, bytes) == SendCode::ok) [[likely]] {
                return MPI_SUCCESS;
            }
        } else if (goes_to_stranger(target, bytes)) {
            const void* from = static_cast<const std::byte*>(buffer) + type.true_lower_bound;
            if (send_to_stranger(*target, *state.name, tag, 0, from, bytes) == SendCode::ok) {
                return MPI_SUCCESS;
            }
        }
    }
    return send_slowly(buffer, count, type, dest, tag, mode, comm);
}

int Ob1::send_slowly(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
    Communicator& comm) noexcept {
    SendRequest request(*this, buffer, count, type, dest, tag, mode, comm);
    {
        Guard guard(*this);
        start(request);
    }
    wait_until(_progress, [&request] { return request.is_complete(); });
    return request.error;
}

int Ob1::isend(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
    Communicator& comm, Request** request) noexcept {
    Guard guard(*this);
    auto* made = _send_pool.alloc(*this, buffer, count, type, dest, tag, mode, comm);
    if (made == nullptr) {
        log_error("pml/ob1: out of memory for a send request");
        return MPI_ERR_NO_MEM;
    }
    made->id = next_id();
    *request = made;
    CommState& state = state_of(comm);
    if (mode != SendMode::synchronous && type.dense) [[likely]] {
        RankState* target = state.find_rank(dest);
        if (goes_direct(target, made->bytes)) [[likely]] {
            if (send_direct(*target, tag, made->id, made->address(), made->bytes) == SendCode::ok) [[likely]] {
                made->peer = target->peer;
                made->index = target->index;
                made->set_state(Request::State::complete);
                return MPI_SUCCESS;
            }
        } else if (goes_to_stranger(target, made->bytes)) {
            made->peer = target->stranger; // may be none any more afterwards
            made->by_excid = _owed.to != target;
            if (send_to_stranger(*target, *state.name, tag, made->id, made->address(), made->bytes) == SendCode::ok) {
                made->index = comm.index;
                made->excid = *state.name;
                made->set_state(Request::State::complete);
                return MPI_SUCCESS;
            }
        }
    }
    made->hold();
    start(*made);
    return MPI_SUCCESS;
}

int Ob1::send_init(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
    Communicator& comm, Request** request) noexcept {
    Guard guard(*this);
    auto* made = _send_pool.alloc(*this, buffer, count, type, dest, tag, mode, comm);
    if (made == nullptr) {
        log_error("pml/ob1: out of memory for a send request");
        return MPI_ERR_NO_MEM;
    }
    made->persistent = true;
    made->hold();
    *request = made;
    return MPI_SUCCESS;
}

int Ob1::restart(SendRequest& request) noexcept {
    Guard guard(*this);
    request.error = MPI_SUCCESS;
    set_status_cancelled(request.status, false);
    request.remote_request = 0;
    request.done_but_for_answer = false;
    request.id = next_id();
    start(request);
    return MPI_SUCCESS;
}

void Ob1::start(SendRequest& request) noexcept {
    request.set_state(Request::State::active);
    begin(request);
    if (request.peer == nullptr) {
        const RankState* target = connect_rank(state_of(*request.comm), request.dest);
        if (target == nullptr) {
            finish(request, MPI_ERR_OTHER);
            return;
        }
        request.peer = target->peer != nullptr ? target->peer : target->stranger;
    }
    Peer& peer = *request.peer;
    const SendCode code = peer.waiting.empty() ? transmit(request) : SendCode::full;
    if (code == SendCode::failed) {
        finish(request, MPI_ERR_OTHER);
    } else if (code == SendCode::full && !queue_message(request)) {
        finish(request, MPI_ERR_NO_MEM);
    }
}

SendCode Ob1::transmit(SendRequest& request) noexcept {
    Peer& peer = *request.peer;
    const bool eager = request.bytes <= peer.eager_limit && !peer.told_to_stop;
    RankState& target = state_of(*request.comm).rank(request.dest);
    const bool tells = target.peer == nullptr || _owed.to == &target;
    const SendCode code = eager ? transmit_eager(request) : transmit_rts(request);
    if (code == SendCode::ok) {
        if (tells) {
            note_told(target);
        }
        wake_if_local(peer);
    }
    return code;
}

// Completes the request when the message is gone; after that the request may not exist any more.
SendCode Ob1::transmit_eager(SendRequest& request) noexcept {
    const bool synchronous = request.mode == SendMode::synchronous;
    if (!synchronous) {
        Extended<MatchHeader> header{{PacketType::match, 0, 0, request.source, request.tag, request.id}, {}};
        const std::size_t header_size = name_communicator(request, header);
        return transmit_eager(request, &header, header_size);
    }
    Extended<SyncHeader> header{{{PacketType::match_sync, 0, 0, request.source, request.tag, request.id},
                                    reinterpret_cast<std::uintptr_t>(&request)},
        {}};
    const std::size_t header_size = name_communicator(request, header);
    return transmit_eager(request, &header, header_size);
}

SendCode Ob1::transmit_eager(SendRequest& request, const void* header, std::size_t header_size) noexcept {
    Peer& peer = *request.peer;
    SendCode code;
    if (request.type->dense || request.bytes == 0) {
        const void* from = request.bytes == 0 ? nullptr : request.address();
        code = peer.btl->send(*peer.endpoint, header, header_size, from, request.bytes);
    } else {
        const auto reservation = peer.btl->reserve(*peer.endpoint, header_size, request.bytes);
        code = reservation.code;
        if (code == SendCode::ok) {
            Convertor convertor(*request.type, request.count, request.buffer);
            convertor.pack(reservation.room.data(), request.bytes);
            code = peer.btl->commit(*peer.endpoint, header, header_size, request.bytes);
        }
    }
    if (code == SendCode::ok && request.mode != SendMode::synchronous) {
        finish(request, MPI_SUCCESS);
    }
    return code;
}

SendCode Ob1::transmit_rts(SendRequest& request) noexcept {
    Peer& peer = *request.peer;
    const Convertor& convertor = request.convertor.make(*request.type, request.count, request.buffer);
    Extended<RtsHeader> header{
        {{PacketType::rts, 0, 0, request.source, request.tag, request.id}, reinterpret_cast<std::uintptr_t>(&request),
            request.bytes, reinterpret_cast<std::uintptr_t>(convertor.contiguous())},
        {}};
    const std::size_t header_size = name_communicator(request, header);
    return peer.btl->send(*peer.endpoint, &header, header_size, nullptr, 0);
}

// How the message names its communicator, as things are now. Returns the header's size.
template <class Header>
std::size_t Ob1::name_communicator(SendRequest& request, Extended<Header>& header) noexcept {
    CommState& state = state_of(*request.comm);
    RankState& target = state.rank(request.dest);
    auto& match = reinterpret_cast<MatchHeader&>(header);
    const bool owed = _owed.to == &target;
    request.by_excid = target.peer == nullptr && !owed;
    request.index = request.by_excid ? state.comm.index : target.index;
    match.index = request.index;
    if (!request.by_excid) {
        match.flags = owed ? same_index : 0;
        return sizeof(Header);
    }
    match.flags = named_by_excid;
    header.id = request.excid = *state.name;
    return sizeof header;
}

// The next piece of a message that its receiver asked for, packed straight into the wire's memory.
SendCode Ob1::transmit_fragment(SendRequest& request) noexcept {
    Peer& peer = *request.peer;
    const FragHeader header{PacketType::frag, {}, request.remote_request};
    Convertor& convertor = *request.convertor;
    const std::size_t left = request.stream_end - convertor.position();
    const std::size_t size = std::min(left, peer.btl->limits().packet);
    const auto reservation = peer.btl->reserve(*peer.endpoint, sizeof header, size);
    if (reservation.code != SendCode::ok) {
        return reservation.code;
    }
    const std::size_t packed = convertor.pack(reservation.room.data(), std::min(left, reservation.room.size()));
    return peer.btl->commit(*peer.endpoint, &header, sizeof header, packed);
}

void Ob1::begin(SendRequest& request) noexcept {
    request.under_way = true;
    _sends.push_back(request);
}

void Ob1::end(SendRequest& request) noexcept {
    if (request.under_way) {
        request.under_way = false;
        _sends.erase(request);
    }
}

void Ob1::finish(SendRequest& request, int code) noexcept {
    request.error = code;
    if (request.cancel_asked) {
        request.done_but_for_answer = true;
        return;
    }
    if (!request.abandoned) {
        end(request);
    }
    complete(request);
}

} // namespace patchbay::pml::ob1
