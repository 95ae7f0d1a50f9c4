// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "mpi/threads/inbox.h"
#include "mpi/threads/lane.h"
#include "mpi/threads/request.h"
#include "mpi/threads/view.h"

#include <array>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::threads {

class Carrier;

// A message from another process, in memory of malloc(). It is also the cell of its payload.
struct Arrival : Cell {
    Arrival* next;
    Envelope envelope;
};

// One thread of an active thread communicator as a sender and receiver of messages. All functions are called by that
// thread, except those of the last group.
//
// A message of up to `eager_limit` bytes is copied into the receiver's inbox, or into a cell to which the inbox refers,
// and its send is complete. Of a longer or synchronous one the inbox gets the address of the send request, and the
// receiver copies from the buffer of the sender, whose request it then gives back. A send that finds the inbox full is
// kept, and tried again in every poll; of a buffered one a copy is.
//
// A sender with several messages for one receiver puts all further ones into a lane, which has memory for their
// payloads, too. The inbox gets the address of the lane behind the messages that were sent before, so that the receiver
// takes all of them in order.
class Engine {
public:
    static constexpr std::size_t eager_limit = 2048;
    static_assert(eager_limit <= Lane::longest_payload);
    // The messages to a receiver before the sender asks for a lane, which takes 4 KiB.
    static constexpr std::uint32_t messages_before_lane = 16;

    Engine(Progress& progress, Carrier* carrier, int thread, int threads);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    Progress& progress() noexcept { return _progress; }
    int thread() const noexcept { return _thread; } // its number in the process
    // Drops the messages that have not been received. The engine sends and receives nothing any more; those of other
    // threads still may, and refer to its cells.
    void close() noexcept;

    // Adds a communicator, whose context no other one of this engine has. false: out of memory.
    bool add(View& view) noexcept;
    void remove(View& view) noexcept;
    // Calls act(communicator) for all of them. Of an intercommunicator its local_comm is one, too.
    template <class Act>
    void for_each_view(const Act& act) const noexcept {
        for (const auto& [context, view] : _views) {
            act(std::as_const(view->comm));
        }
    }

    // Blocks until the buffer may be used again, or the message is received where that is asked for.
    int send(const Outgoing& message) noexcept;
    // For a blocking receive, before it makes a request: takes the next message of a lane, if that is the one, and it
    // comes soon. false: nothing has happened.
    bool receive_next(const Incoming& wanted, MPI_Status* status) noexcept;
    // The request is active.
    void start(SendRequest& request) noexcept;
    void start(RecvRequest& request) noexcept;
    // The message, which is not among the unexpected ones any more, is received by the request, which is active.
    void accept(RecvRequest& request, Unexpected& message) noexcept;
    // Local; does not block.
    void cancel(SendRequest& request) noexcept;
    void cancel(RecvRequest& request) noexcept;
    // The receiver has done with the message, whether it has been asked to drop it or not.
    void end_cancelling(SendRequest& request) noexcept {
        if (request.cancelling) [[unlikely]] {
            _backlog.erase(request);
            request.cancelling = false;
        }
    }

    // Takes a message from another process, whose payload is in the memory of the carrier until this returns.
    // false: messages before it have not been taken, or memory is exhausted.
    bool deliver_at_once(const Envelope& envelope) noexcept;

    // One round of progress; returns the number of events.
    int poll() noexcept;
    // For a wait, which calls it before each poll: looks for messages several times, each of which takes less than a
    // poll. Whether the request, one of this engine, is complete.
    bool look_for(ThreadRequest& request) noexcept {
        for (int looks = _looks; looks > 0 && !request.has_completed(); --looks) {
            if (has_arrivals()) {
                take_arrivals();
            }
        }
        return request.is_complete();
    }

    // Requests that exist, but those on the stack of a blocking call.
    std::size_t requests() const noexcept { return _requests; }
    void count_request(int by) noexcept { _requests += std::size_t(by); }

    // Sends whose requests the program has freed, and which are not complete, and messages that have been withdrawn.
    std::size_t freed_operations() const noexcept { return _freed_sends + _dropped.size(); }
    void count_freed_send(int by) noexcept { _freed_sends += std::size_t(by); }

    // For other threads of the process:

    // Gives back a request of this engine, whose message has been received.
    void give_back(SendRequest& request) noexcept;
    // Hands over a message from another process. One caller at a time.
    void arrive(Arrival& arrival) noexcept;
    void wake() noexcept { _bell.notify(); }

private:
    enum class Sent { done, under_way, full, no_memory, needs_request };

    Sent attempt(const Outgoing& message, SendRequest* request) noexcept;
    Sent attempt_here(const Outgoing& message, Engine& receiver, SendRequest* request) noexcept;
    Sent attempt_remote(const Outgoing& message, const Member& member, SendRequest* request) noexcept;
    // A slot of the lane to that receiver, or of its inbox.
    Claim claim(Engine& receiver) noexcept {
        Lane* lane = lane_to(receiver);
        return lane != nullptr ? lane->claim() : claim_in_inbox(receiver);
    }
    // No slot: the receiver rings this thread's bell when there is one.
    Claim claim_in_inbox(Engine& receiver) noexcept {
        const Claim claim = receiver._inbox.claim();
        if (claim.slot != nullptr) [[likely]] {
            return claim;
        }
        RoomWait& wait = _destinations[std::size_t(receiver._thread)].room;
        wait.bell = &_bell;
        receiver._inbox.await_room(wait);
        return receiver._inbox.claim();
    }
    // null: there is none.
    Lane* lane_to(Engine& receiver) noexcept {
        Destination& to = _destinations[std::size_t(receiver._thread)];
        if (to.lane == nullptr && ++to.sent == messages_before_lane) [[unlikely]] {
            open_lane(to, receiver);
        }
        return to.lane;
    }
    bool send_by_lane(const Outgoing& message) noexcept;
    void queue(SendRequest& request) noexcept;
    int queue_copy(const Outgoing& message) noexcept;
    bool ask_to_drop(SendRequest& request, Engine& receiver) noexcept;
    bool attempt_again(SendRequest& request) noexcept;
    bool fill(Envelope& envelope, const Outgoing& message, SendRequest* request) noexcept;
    Cell* take_cell(std::size_t bytes) noexcept;
    bool has_arrivals() const noexcept {
        for (std::size_t i = 0; i < _lane_count; ++i) {
            if (_lanes[i]->front() != nullptr) {
                return true;
            }
        }
        return _inbox.front() != nullptr;
    }
    void take_arrivals() noexcept;
    bool deliver(const Envelope& envelope) noexcept;
    bool keep_unexpected(View* view, const Envelope& envelope) noexcept;
    void deliver_control(const Envelope& envelope) noexcept;
    template <class Queue>
    int deliver_all(Queue& queue, int most) noexcept;
    void receive_from_sender(RecvRequest& request, const Envelope& envelope) noexcept;
    void answer(const Envelope& envelope) noexcept;
    void receive(RecvRequest& request, const Envelope& envelope) noexcept;
    void unpack(RecvRequest& request, const std::byte* data, std::uint64_t bytes) noexcept;
    void receive_remote(RecvRequest& request, const Envelope& envelope) noexcept;
    static void drop(const Envelope& envelope) noexcept;
    // nullptr: no message that has arrived and that no receive has matched is the one.
    template <class Predicate>
    std::unique_ptr<Unexpected> take_unexpected(std::uint32_t context, const Predicate& is_it) noexcept;
    void cancel_unexpected(const Envelope::Sender& sender, std::uint32_t context) noexcept;
    void withdraw_unexpected(const Envelope& withdrawal) noexcept;
    bool drop_remote(const Envelope& envelope) noexcept;
    void end_withdrawal(const Envelope& answer) noexcept;
    int poll_inbox() noexcept;
    int poll_given_back() noexcept;
    int poll_arrivals() noexcept;
    int poll_backlog() noexcept;
    int poll_transfers() noexcept;
    int poll_dropped() noexcept;
    View* find(std::uint32_t context) noexcept;

    // What this thread has for each of the process as a receiver of its messages.
    struct Destination {
        Lane* lane = nullptr;     // the receiver frees it
        std::uint32_t sent = 0;   // before there was a lane
        std::uint32_t queued = 0; // sends in the backlog
        RoomWait room;            // in the inbox
    };
    void open_lane(Destination& to, Engine& receiver) noexcept;

    // Read by other threads with each message, and written by none.
    Progress& _progress;
    Doorbell& _bell;
    Carrier* const _carrier; // null: there is one process
    const int _thread;
    const int _looks; // few where there are other processes, whose messages take a poll

    alignas(64) bool _polling = false;
    std::size_t _requests = 0;
    std::size_t _freed_sends = 0;
    std::unordered_map<std::uint32_t, View*> _views; // by context
    View* _last_found = nullptr;
    List<Unexpected, &Unexpected::link> _early; // for communicators that this thread does not have yet, or no more
    List<SendRequest, &SendRequest::backlog_link> _backlog; // what waits for room at its receiver
    std::vector<Destination> _destinations;                 // by thread
    std::vector<std::uint64_t> _blocked_in; // the pass over the backlog in which there was no slot for a thread
    std::uint64_t _pass = 0;
    std::vector<ThreadRequest*> _transfers; // with other processes
    std::vector<Request*> _dropped;         // receives of the payloads of withdrawn messages
    Arrival* _arrived = nullptr;            // taken from _arrivals, the first one first
    struct Pool;
    std::unique_ptr<Pool> _cells; // made for the first message that needs one
    std::size_t _next_cell = 0;
    std::array<Lane*, Inbox::most_lanes> _lanes{}; // from other threads
    std::size_t _lane_count = 0;
    alignas(64) std::atomic<SendRequest*> _given_back{nullptr};
    std::atomic<Arrival*> _arrivals{nullptr};
    Inbox _inbox;
};

} // namespace patchbay::threads
