// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "mpi/threads/engine.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>

namespace patchbay::threads {

// Messages between the processes of a thread communicator, over the selected pml. They go on a communicator of the
// processes that nothing else uses, the carrier. Every message has a header with the communicator, the ranks and the
// tag of the program, and the thread that it is for, so that nothing of these is in the tag of the carrier: tag 0 is
// that of headers, and each long payload has another tag, which its header tells.
//
// Up to eight receives of any header are posted, by polls that find nothing and when none is left. A message that finds
// one is copied once on its way to the thread that polls. They complete in any order, and are looked at in that of
// their posts, which is the order of the messages.
class Carrier {
public:
    // Longer messages are received straight into the buffer of the receiver. On a Zen 3, 4 KiB take the same time both
    // ways; 2 KiB take 0.85 of it with the header, 16 KiB 1.4 and more.
    static constexpr std::size_t eager_limit = 4096;

    Carrier(Communicator& comm, Progress& process_progress) noexcept
        : _comm(comm),
          _process_progress(process_progress) {}
    ~Carrier();
    Carrier(const Carrier&) = delete;
    Carrier& operator=(const Carrier&) = delete;

    Communicator& comm() noexcept { return _comm; }

    // The threads of an activation, which get the messages; the number of the activation is the same in all processes.
    // No thread has begun to send.
    void open(std::uint32_t activation, std::span<Engine* const> threads) noexcept;
    // No thread gets messages any more, and poll() does nothing, also one under way on another thread. All processes
    // have agreed that the activation ends; one that goes on sooner may have started again, and its messages wait until
    // this one has, too.
    void close() noexcept { deliver_to({}); }

    // These are called by any thread of the activation, and return an MPI code; only the first one may block.
    // Sends a message of up to `eager_limit` bytes with its payload.
    int send_eager(const Outgoing& message, const Member& to) noexcept;
    // Sends a copy of the payload; a longer one apart from the header.
    int send_copy(const Outgoing& message, const Member& to) noexcept;
    // Sends a header, and starts to send the payload with this tag: *request.
    int start(const Outgoing& message, const Member& to, Request** request, int* payload_tag) noexcept;
    // Starts to receive a payload.
    int receive(
        const Envelope& envelope, void* buffer, MPI_Count count, const Datatype& type, Request** request) noexcept;

    // Asks a thread of another process to drop a message of that communicator whose payload has the tag. The answer is
    // an arrival of kind withdrawn or kept for the thread `from` of this process.
    int withdraw(std::uint32_t context, const Member& to, int payload_tag, int from) noexcept;
    // Answers a withdrawal. Where the message has been dropped, also the payload is.
    int answer(const Envelope& withdrawal, bool dropped) noexcept;

    // One round of progress, unless another thread makes it just now. `own`: the engine of the calling thread. Returns
    // the number of events.
    int poll(Engine& own) noexcept;
    // Before the communicator is freed, and when no thread is active.
    void stop_receiving() noexcept;
    // Whether all headers have left this process.
    bool sent_all() noexcept;

private:
    struct Header {
        std::uint32_t activation;
        std::uint32_t thread; // that the message is for
        std::uint32_t context;
        std::int32_t source;
        std::int32_t tag;
        std::int32_t payload_tag; // 0: the payload follows the header; above 0: the kind of what is no message
        std::uint64_t bytes;
    };
    static constexpr std::size_t longest_message = sizeof(Header) + eager_limit;
    struct Sending {
        Request* request;
        std::byte* memory;
    };

    Header header_of(const Outgoing& message, const Member& to, int payload_tag) const noexcept;
    int next_payload_tag() noexcept;
    int send_header(const Header& header, int process) noexcept;
    int send_memory(std::byte* memory, std::size_t size, int process, int tag) noexcept;
    // A posted receive of a header.
    struct Receive {
        Request* request;
        std::byte* memory; // of longest_message; null: to be allocated
    };
    static constexpr std::size_t most_posted = 8;

    Receive& receive_at(std::size_t place) noexcept { return _receives[(_first + place) % most_posted]; }
    void post_receives() noexcept;
    bool post(Receive& receive) noexcept;
    int take_messages(Engine& own) noexcept;
    void deliver_to(std::span<Engine* const> threads) noexcept;
    bool take_message(Engine& own) noexcept;
    bool deliver(const std::byte* received, const MPI_Status& status, Engine& own) noexcept;
    void retire_sent() noexcept;

    Communicator& _comm;
    Progress& _process_progress;
    std::atomic<std::uint32_t> _payloads{0}; // numbers them
    std::uint32_t _activation = 0;
    std::atomic_flag _polling{}; // protects the members below
    std::span<Engine* const> _threads;
    std::array<Receive, most_posted> _receives{}; // posted from _first on
    std::size_t _first = 0;
    std::size_t _posted = 0;
    bool _failed = false; // a process has: no receive of any can be posted
    std::mutex _mutex;    // protects the member below
    std::deque<Sending> _sending;
    std::atomic<std::size_t> _sending_count{0};
};

} // namespace patchbay::threads
