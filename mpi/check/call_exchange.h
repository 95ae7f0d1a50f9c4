// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/continuation.h"
#include "frameworks/coll/schedule.h"
#include "object/communicator.h"
#include "object/request.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace patchbay::check {

// The comparison of one collective call of all members: each sends its record to the first one, which compares them and
// sends the result to all. All members do this for the same calls in the same order, so that the messages match
// whatever the calls are. It exists until it has ended, even if nothing else refers to it.
class CallExchange : private Continuation {
public:
    // `comm`: of the call; the members of an intercommunicator compare the calls within each group. May throw
    // std::bad_alloc.
    static std::shared_ptr<CallExchange> begin(Progress& waits, Communicator& comm, std::vector<std::byte> record);

    bool has_ended() const noexcept { return _ended.load(std::memory_order_acquire); }
    // The result, the same in all members, once it has ended.
    int code() const noexcept { return _code; }
    // Calls done.end() with the result, now or when it has ended. In polls.
    void notify(coll::Completion& done) noexcept;

private:
    CallExchange(Progress& waits, Communicator& comm, std::vector<std::byte> record);

    void begin_messages() noexcept;
    void begin_results() noexcept;
    void run_next() noexcept;
    void compare_all() noexcept;
    void send(const void* data, std::size_t size, int to) noexcept;
    void receive(void* data, std::size_t size, int from) noexcept;
    void watch(int code, Request* message) noexcept;
    void release_messages() noexcept;
    void end() noexcept;

    Communicator& _called;
    Communicator& _comm;          // of the messages
    Ref<Communicator> _reference; // of the first one, until the end; the program may have freed it. Null: predefined
    const std::vector<std::byte> _record;
    std::size_t _longest = 0;
    std::vector<std::byte> _records; // in the first member
    std::vector<Request*> _messages;
    std::vector<std::size_t> _sizes; // of the records
    int _code = MPI_SUCCESS;
    bool _compared = false;
    std::atomic<bool> _ended{false};
    coll::Completion* _waiting = nullptr;
    std::shared_ptr<CallExchange> _self;
};

} // namespace patchbay::check
