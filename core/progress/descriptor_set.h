// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/progress/doorbell.h"

#include <atomic>
#include <chrono>
#include <memory>

namespace patchbay {

// The descriptors that bring work to a process (Progress::watch), and the sleep of a process that has some. One thread
// at a time sleeps in ppoll(2), on the descriptors and on the socket of the doorbell; further ones sleep on the
// doorbell alone. What the first one finds when it wakes, it makes known to them by the doorbell, as any thread does
// that polls.
class DescriptorSet {
public:
    static Result<std::unique_ptr<DescriptorSet>> make();
    ~DescriptorSet();
    DescriptorSet(const DescriptorSet&) = delete;
    DescriptorSet& operator=(const DescriptorSet&) = delete;

    // Errc::system: the text has the cause.
    Status add(int fd);
    void remove(int fd) noexcept;

    // Doorbell::sleep(), which also ends, with true, when a descriptor is readable.
    bool sleep(Doorbell& bell, std::uint32_t seq, std::chrono::nanoseconds limit) noexcept;

private:
    DescriptorSet(int epoll, int socket, BellSocketName name) noexcept
        : _epoll(epoll),
          _socket(socket),
          _name(name) {}
    bool wait(std::chrono::nanoseconds limit) noexcept;

    const int _epoll;
    const int _socket;
    const BellSocketName _name;
    std::atomic<int> _descriptors{0};
    std::atomic<bool> _taken{false}; // a thread sleeps in ppoll
};

} // namespace patchbay
