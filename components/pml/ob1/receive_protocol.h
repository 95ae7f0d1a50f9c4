// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/common/short_copy.h"
#include "components/pml/ob1/flow_control.h"
#include "components/pml/ob1/rendezvous.h"
#include "components/pml/ob1/requests.h"
#include "core/memory/pool.h"

#include <utility>

namespace patchbay::pml::ob1 {

// The receive requests, from start to the message that matches. An eager message is copied here; one that was announced
// by an rts goes on to Rendezvous.
class ReceiveProtocol {
public:
    ReceiveProtocol(const Peers& peers, Backlog& backlog, FlowControl& flow, Rendezvous& rendezvous) noexcept
        : _peers(peers),
          _backlog(backlog),
          _flow(flow),
          _rendezvous(rendezvous) {}

    // nullptr: out of memory.
    template <class... Args>
    RecvRequest* make(Args&&... args) noexcept {
        return _pool.alloc(std::forward<Args>(args)...);
    }
    void free(RecvRequest& request) noexcept { _pool.free(&request); }

    // Matches an unexpected message or posts the receive.
    void start(RecvRequest& request) noexcept {
        CommState& state = state_of(*request.comm);
        request.set_active();
        if (!state.prepare()) [[unlikely]] {
            request.error = state.error();
            request.complete();
            return;
        }
        Unexpected* message = state.find(request.source, request.tag);
        if (message == nullptr) {
            if (const int code = error_of(state, request.source); code != MPI_SUCCESS) [[unlikely]] {
                fill_status(request.status, request.source, request.tag, 0);
                request.error = code;
                request.complete();
                return;
            }
            state.post(request);
            return;
        }
        if (!can_accept(*message)) [[unlikely]] {
            request.error = MPI_ERR_NO_MEM; // the message stays unexpected
            request.complete();
            return;
        }
        state.remove(*message);
        accept(request, *message);
    }
    // MPI_ERR_PROC_ABORTED: this rank has failed, so that no message will come from it.
    int error_of(const CommState& state, int source) const noexcept {
        const bool failed = _peers.any_failed() && source != MPI_ANY_SOURCE &&
            _peers.has_failed(state.comm.remote_group->process(source));
        return failed ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
    }
    // Whether there is memory for the reply to this unexpected message, which accept() sends.
    bool can_accept(const Unexpected& message) noexcept {
        return message.match.type == PacketType::match || _backlog.can_reply(*message.from);
    }
    // The unexpected message, which is in no queue any more, is received by this request.
    void accept(RecvRequest& request, Unexpected& message) noexcept;
    // The request, which is posted no more, receives a whole message. Completes it.
    static void deliver(
        RecvRequest& request, const MatchHeader& match, const std::byte* payload, std::size_t size) noexcept {
        std::size_t used = size;
        if (size <= common::short_copy_limit && size <= request.bytes && request.type->dense) [[likely]] {
            common::copy_short(request.address(), payload, size);
        } else {
            used = copy_otherwise(request, payload, size);
        }
        fill_status(request.status, match.source, match.tag, used);
        request.complete();
    }

private:
    // Returns how many bytes the buffer has taken; the others are an error of the request.
    static std::size_t copy_otherwise(RecvRequest& request, const std::byte* payload, std::size_t size) noexcept;

    const Peers& _peers;
    Backlog& _backlog;
    FlowControl& _flow;
    Rendezvous& _rendezvous;
    Pool<RecvRequest, NoLock> _pool;
};

} // namespace patchbay::pml::ob1
