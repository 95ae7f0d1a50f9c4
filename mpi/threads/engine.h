// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "mpi/threads/inbox.h"
#include "mpi/threads/request.h"
#include "mpi/threads/view.h"

#include <memory>
#include <unordered_map>
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
// The cells of an engine (engine.cpp).
struct Cells;
struct DeleteCells {
    void operator()(Cells* cells) const noexcept;
};
using CellPool = std::unique_ptr<Cells, DeleteCells>;

// A message of up to `eager_limit` bytes is copied into the receiver's inbox, or into a cell to which the inbox refers,
// and its send is complete. Of a longer or synchronous one the inbox gets the address of the send request, and the
// receiver copies from the buffer of the sender, whose request it then gives back. A send that finds the inbox full is
// kept, and tried again in every poll.
class Engine {
public:
    // Not chosen by a measurement yet; bench/threadcomm.c has the sizes on both sides of it.
    static constexpr std::size_t eager_limit = 2048;

    Engine(Progress& progress, Carrier* carrier, int thread, int threads);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    Progress& progress() noexcept { return _progress; }
    int thread() const noexcept { return _thread; } // its number in the process

    // Adds a communicator, whose context no other one of this engine has. false: out of memory.
    bool add(View& view) noexcept;
    void remove(View& view) noexcept;
    std::size_t views() const noexcept { return _views.size(); }

    // Blocks until the buffer may be used again, or the message is received where that is asked for.
    int send(const Outgoing& message) noexcept;
    // The request is active.
    void start(SendRequest& request) noexcept;
    void start(RecvRequest& request) noexcept;
    // The message, which is not among the unexpected ones any more, is received by the request, which is active.
    void accept(RecvRequest& request, Unexpected& message) noexcept;
    void cancel(SendRequest& request) noexcept;
    void cancel(RecvRequest& request) noexcept;

    // One round of progress; returns the number of events.
    int poll() noexcept;

    // Requests that exist, but those on the stack of a blocking call.
    std::size_t requests() const noexcept { return _requests; }
    void count_request(int by) noexcept { _requests += std::size_t(by); }

    // Sends whose requests the program has freed, and which are not complete.
    std::size_t freed_sends() const noexcept { return _freed_sends; }
    void count_freed_send(int by) noexcept { _freed_sends += std::size_t(by); }

    // Before the engine ends, for its activation: a message that no other thread has received may refer to a cell until
    // that thread's engine has ended, too.
    CellPool take_cells() noexcept { return std::move(_cells); }

    // For other threads of the process:

    Inbox& inbox() noexcept { return _inbox; }
    // Gives back a request of this engine, whose message has been received.
    void give_back(SendRequest& request) noexcept;
    // Hands over a message from another process. One caller at a time.
    void arrive(Arrival& arrival) noexcept;
    void wake() noexcept { _progress.doorbell().notify(); }

private:
    enum class Sent { done, under_way, full, no_memory, needs_request };

    Sent attempt(const Outgoing& message, SendRequest* request) noexcept;
    Sent attempt_here(const Outgoing& message, Engine& receiver, SendRequest* request) noexcept;
    Sent attempt_remote(const Outgoing& message, const Member& member, SendRequest* request) noexcept;
    bool fill(Envelope& envelope, const Outgoing& message, SendRequest* request) noexcept;
    Cell* take_cell(std::size_t bytes) noexcept;
    bool deliver(const Envelope& envelope) noexcept;
    void receive(RecvRequest& request, const Envelope& envelope) noexcept;
    void unpack(RecvRequest& request, const std::byte* data, std::uint64_t bytes) noexcept;
    void receive_remote(RecvRequest& request, const Envelope& envelope) noexcept;
    static void drop(const Envelope& envelope) noexcept;
    void cancel_unexpected(const SendRequest* request, std::uint32_t context) noexcept;
    int poll_inbox() noexcept;
    int poll_given_back() noexcept;
    int poll_arrivals() noexcept;
    int poll_backlog() noexcept;
    int poll_transfers() noexcept;
    View* find(std::uint32_t context) noexcept;

    Progress& _progress;
    Carrier* const _carrier; // null: there is one process
    const int _thread;
    bool _polling = false;
    std::size_t _requests = 0;
    std::size_t _freed_sends = 0;
    std::unordered_map<std::uint32_t, View*> _views; // by context
    View* _last_found = nullptr;
    List<Unexpected, &Unexpected::link> _early; // for communicators that this thread does not have yet
    List<SendRequest, &SendRequest::backlog_link> _backlog;
    std::vector<std::uint32_t> _backlog_to; // how many of them are for each thread
    std::vector<std::uint64_t> _blocked_in; // the pass over the backlog in which the inbox of a thread was full
    std::uint64_t _pass = 0;
    std::vector<ThreadRequest*> _transfers; // with other processes
    Arrival* _arrived = nullptr;            // taken from _arrivals, the first one first
    CellPool _cells;                        // made for the first message that needs one
    std::size_t _next_cell = 0;
    alignas(64) std::atomic<SendRequest*> _given_back{nullptr};
    std::atomic<Arrival*> _arrivals{nullptr};
    Inbox _inbox;
};

} // namespace patchbay::threads
