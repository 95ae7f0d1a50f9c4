// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/file_descriptor.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace patchbay::launch {

// The event loop of the one thread in which the node daemon does its work: descriptors, timers, and closures that other
// threads (PMIx) post. It uses epoll rather than Boost.Asio, because Asio sets every descriptor for which it waits to
// non-blocking mode, which on an inherited stdout changes the mode for every other process that has it open.
class EventLoop {
public:
    using Callback = std::function<void()>;
    using Clock = std::chrono::steady_clock;
    using TimerId = std::uint64_t;

    // Aborts the program if the kernel can create no epoll descriptor or eventfd, because nothing works without them.
    EventLoop();

    // Called from any thread. Closures run in the order in which they were posted.
    void post(Callback callback);

    // The other functions may be called only in the event loop's thread, also from callbacks. `events` is EPOLLIN or
    // EPOLLOUT; a hang-up or an error calls back as well. There is one watch per descriptor.
    void watch(int fd, std::uint32_t events, Callback callback);
    void unwatch(int fd);
    // A longer delay takes this long: the clock has no time that is as late.
    static constexpr Clock::duration longest_delay = std::chrono::hours(24 * 365 * 10);
    TimerId after(Clock::duration delay, Callback callback);
    void cancel(TimerId timer);

    // Returns after stop().
    void run();
    void stop() { _stopped = true; }

private:
    struct Watch {
        std::uint32_t generation; // distinguishes a watch from an older one of the same descriptor number
        std::shared_ptr<Callback> callback;
    };

    int wait_time() const;
    void run_posted();
    void run_timers();

    FileDescriptor _epoll;
    FileDescriptor _wakeup;
    std::mutex _mutex;
    std::vector<Callback> _posted; // guarded by _mutex
    std::map<int, Watch> _watches;
    std::uint32_t _next_generation = 1;
    std::map<std::pair<Clock::time_point, TimerId>, Callback> _timers;
    TimerId _next_timer = 1;
    bool _stopped = false;
};

} // namespace patchbay::launch
