// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/backlog.h"
#include "components/pml/ob1/handshake.h"
#include "components/pml/ob1/rendezvous.h"
#include "components/pml/ob1/requests.h"
#include "components/pml/ob1/traffic.h"
#include "core/memory/pool.h"

#include <utility>

namespace patchbay::pml::ob1 {

// The send requests, from start to completion: eager messages are sent here, larger ones by Rendezvous.
class SendProtocol {
public:
    SendProtocol(
        Peers& peers, Backlog& backlog, Handshake& handshake, Rendezvous& rendezvous, Traffic& traffic) noexcept
        : _peers(peers),
          _backlog(backlog),
          _handshake(handshake),
          _rendezvous(rendezvous),
          _traffic(traffic) {}

    // nullptr: out of memory.
    template <class... Args>
    SendRequest* make(Args&&... args) noexcept {
        return _pool.alloc(std::forward<Args>(args)...);
    }
    void free(SendRequest& request) noexcept {
        if (request.clean) [[likely]] {
            request.mark_free();
            request.next_clean = std::exchange(_clean, &request);
            return;
        }
        end(request);
        _pool.free(&request);
    }
    // A free request that is clean; take_clean() takes it. nullptr: there is none.
    SendRequest* clean() const noexcept { return _clean; }
    void take_clean() noexcept { _clean = _clean->next_clean; }
    // Identifies a message in a later cancel; never 0.
    std::uint32_t next_id() noexcept { return _ids += 2; }

    // The hot path: an eager message of a dense datatype, which needs no request.
    static bool goes_direct(const RankState* target, std::size_t bytes) noexcept {
        return target != nullptr && target->peer != nullptr && bytes < target->peer->direct_below;
    }
    static btl::SendCode send_direct(
        const RankState& target, int tag, std::uint32_t id, const void* from, std::size_t bytes) noexcept {
        const MatchWords header{target.match_word, MatchWords::make_second(tag, id)};
        return target.peer->btl->send(*target.peer->endpoint, &header, sizeof header, from, bytes);
    }
    // The same before the exCID handshake is complete, by Handshake::send_direct().
    static bool goes_direct_extended(const RankState* target, std::size_t bytes) noexcept {
        return target != nullptr && target->handshake_peer != nullptr && bytes < target->handshake_peer->direct_below;
    }

    void start(SendRequest& request) noexcept;
    // Sends the message or its rts. The request may be complete afterwards, and not exist any more. `full`: it has to
    // be queued.
    btl::SendCode transmit(SendRequest& request) noexcept;
    // Completes the request, unless the reply to a cancel has to come first.
    void finish(SendRequest& request, int code) noexcept;
    // After transmit() has returned `failed`.
    void finish_failed(SendRequest& request) noexcept;
    // Returns an MPI code. After an error the send goes on as if it had not been cancelled.
    int cancel(SendRequest& request) noexcept;
    void on_cancel_reply(const ControlHeader& reply) noexcept;
    bool awaits_cancel_replies() const noexcept { return _cancels_pending != 0; }
    // At the end of a poll: ends cancels of sends that are complete otherwise, and whose receiver has ended without a
    // reply: it has received the message. Returns how many.
    int end_unanswered_cancels() noexcept;

    // Completes the sends on this communicator that are in the queue of a peer.
    void fail_queued(const Communicator& comm, int code) noexcept;
    // Ends a send to a process that has failed. The backlog has nothing for it any more.
    void fail(SendRequest& request) noexcept {
        end_cancel(request); // no reply will come
        finish(request, request.complete_but_for_cancel ? request.error : MPI_ERR_PROC_ABORTED);
    }

    bool empty() const noexcept { return _in_progress.empty(); }
    // `action` may end the send that it gets, and no other.
    template <class Action>
    void for_each(const Action& action) noexcept {
        for (SendRequest* send = _in_progress.first(); send != nullptr;) {
            SendRequest* following = decltype(_in_progress)::next(*send);
            action(*send);
            send = following;
        }
    }
    template <class Which>
    bool any(const Which& which) const noexcept {
        for (SendRequest* send = _in_progress.first(); send != nullptr; send = decltype(_in_progress)::next(*send)) {
            if (which(*send)) {
                return true;
            }
        }
        return false;
    }

private:
    // Sets the peer of the request. Returns an MPI code; an error has been reported.
    int connect(SendRequest& request) noexcept;
    btl::SendCode transmit_eager(SendRequest& request) noexcept;
    btl::SendCode transmit_eager(SendRequest& request, const void* header, std::size_t header_size) noexcept;
    void end_cancel(SendRequest& request) noexcept {
        _cancels_pending -= unsigned(std::exchange(request.cancel_pending, false));
    }
    void begin(SendRequest& request) noexcept {
        request.in_progress = true;
        _in_progress.push_back(request);
    }
    void end(SendRequest& request) noexcept {
        if (request.in_progress) {
            request.in_progress = false;
            _in_progress.erase(request);
        }
    }

    Peers& _peers;
    Backlog& _backlog;
    Handshake& _handshake;
    Rendezvous& _rendezvous;
    Traffic& _traffic;
    Pool<SendRequest, NoLock> _pool;
    List<SendRequest, &SendRequest::in_progress_link> _in_progress; // in the order in which they were started
    SendRequest* _clean = nullptr;                                  // free requests
    std::uint32_t _ids = 1;                                         // always odd
    std::uint64_t _cancels = 0;                                     // that have been sent
    unsigned _cancels_pending = 0;
};

} // namespace patchbay::pml::ob1
