// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/descriptor_set.h"

#include "core/progress/bell_socket.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/epoll.h>
#include <unistd.h>

namespace patchbay {

namespace {
Error system_error(const char* what) {
    return {Errc::system, std::string(what) + ": " + std::strerror(errno)};
}
} // namespace

Result<std::unique_ptr<DescriptorSet>> DescriptorSet::make() {
    BellSocketName name;
    Result<int> socket = make_bell_socket(name);
    if (!socket) {
        return socket.error();
    }
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) {
        const Error error = system_error("cannot wait for descriptors");
        close(*socket);
        return error;
    }
    return std::unique_ptr<DescriptorSet>(new DescriptorSet(epoll, *socket, name));
}

DescriptorSet::~DescriptorSet() {
    close(_epoll);
    close(_socket);
}

Status DescriptorSet::add(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll_ctl(_epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        return system_error("cannot wait for a descriptor");
    }
    _descriptors.fetch_add(1, std::memory_order_relaxed);
    return {};
}

void DescriptorSet::remove(int fd) noexcept {
    if (epoll_ctl(_epoll, EPOLL_CTL_DEL, fd, nullptr) == 0) {
        _descriptors.fetch_sub(1, std::memory_order_relaxed);
    }
}

bool DescriptorSet::sleep(Doorbell& bell, std::uint32_t seq, std::chrono::nanoseconds limit) noexcept {
    if (_descriptors.load(std::memory_order_relaxed) == 0 || _taken.exchange(true, std::memory_order_seq_cst)) {
        return bell.sleep(seq, limit);
    }
    const bool woken = !bell.show_socket(seq, _name) || wait(limit);
    bell.hide_socket();
    _taken.store(false, std::memory_order_seq_cst);
    // A thread that has found it taken sleeps on the doorbell. Its flag, which it had raised before, is seen by the
    // notify() with which this thread ends its wait, unless this thread sleeps here again.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return woken;
}

bool DescriptorSet::wait(std::chrono::nanoseconds limit) noexcept {
    const timespec span{time_t(limit.count() / 1'000'000'000), long(limit.count() % 1'000'000'000)};
    pollfd each[] = {{_epoll, POLLIN, 0}, {_socket, POLLIN, 0}};
    const int ready = ppoll(each, 2, limit == std::chrono::nanoseconds::max() ? nullptr : &span, nullptr);
    if (ready > 0 && each[1].revents != 0) {
        drain_bell_socket(_socket);
    }
    return ready > 0;
}

} // namespace patchbay
