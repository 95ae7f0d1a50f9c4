// SPDX-License-Identifier: BSD-3-Clause
#include "launch/event_loop.h"

#include "launch/report.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <utility>

namespace patchbay::launch {

namespace {

constexpr std::uint32_t wakeup_generation = 0;

epoll_event make_event(int fd, std::uint32_t generation, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = std::uint64_t(generation) << 32 | std::uint32_t(fd);
    return event;
}

[[noreturn]] void no_loop(const char* call) {
    report(std::string("cannot start: ") + call + ": " + errno_text(errno));
    std::_Exit(exit_failure);
}

} // namespace

EventLoop::EventLoop()
    : _epoll(::epoll_create1(EPOLL_CLOEXEC)),
      _wakeup(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!_epoll || !_wakeup) {
        no_loop(_epoll ? "eventfd" : "epoll_create1");
    }
    epoll_event event = make_event(_wakeup.get(), wakeup_generation, EPOLLIN);
    if (::epoll_ctl(_epoll.get(), EPOLL_CTL_ADD, _wakeup.get(), &event) != 0) {
        no_loop("epoll_ctl");
    }
}

void EventLoop::post(Callback callback) {
    bool was_empty = false;
    {
        std::lock_guard lock(_mutex);
        was_empty = _posted.empty();
        _posted.push_back(std::move(callback));
    }
    if (was_empty) {
        std::uint64_t one = 1;
        [[maybe_unused]] ssize_t written = ::write(_wakeup.get(), &one, sizeof one);
    }
}

void EventLoop::watch(int fd, std::uint32_t events, Callback callback) {
    std::uint32_t generation = _next_generation++;
    epoll_event event = make_event(fd, generation, events);
    if (::epoll_ctl(_epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
        no_loop("epoll_ctl");
    }
    _watches[fd] = Watch{generation, std::make_shared<Callback>(std::move(callback))};
}

void EventLoop::unwatch(int fd) {
    if (_watches.erase(fd) != 0) {
        ::epoll_ctl(_epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
    }
}

EventLoop::TimerId EventLoop::after(Clock::duration delay, Callback callback) {
    TimerId id = _next_timer++;
    _timers.emplace(std::pair(Clock::now() + std::min(delay, longest_delay), id), std::move(callback));
    return id;
}

void EventLoop::cancel(TimerId timer) {
    std::erase_if(_timers, [timer](const auto& entry) { return entry.first.second == timer; });
}

int EventLoop::wait_time() const {
    if (_timers.empty()) {
        return -1;
    }
    auto left = std::chrono::ceil<std::chrono::milliseconds>(_timers.begin()->first.first - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 1'000'000));
}

void EventLoop::run_posted() {
    std::uint64_t count;
    [[maybe_unused]] ssize_t got = ::read(_wakeup.get(), &count, sizeof count);
    std::vector<Callback> posted;
    {
        std::lock_guard lock(_mutex);
        posted.swap(_posted);
    }
    for (Callback& callback : posted) {
        callback();
    }
}

void EventLoop::run_timers() {
    while (!_timers.empty() && _timers.begin()->first.first <= Clock::now()) {
        auto timer = _timers.extract(_timers.begin());
        timer.mapped()();
    }
}

void EventLoop::run() {
    _stopped = false;
    while (!_stopped) {
        epoll_event events[64];
        int count = ::epoll_wait(_epoll.get(), events, std::size(events), wait_time());
        for (int i = 0; i < count; ++i) {
            std::uint32_t generation = static_cast<std::uint32_t>(events[i].data.u64 >> 32);
            if (generation == wakeup_generation) {
                run_posted();
                continue;
            }
            // An earlier callback of this round may have removed this watch, or reused its descriptor.
            auto watch = _watches.find(static_cast<int>(events[i].data.u64 & 0xffffffff));
            if (watch != _watches.end() && watch->second.generation == generation) {
                std::shared_ptr<Callback> callback = watch->second.callback;
                (*callback)();
            }
        }
        run_timers();
    }
}

} // namespace patchbay::launch
