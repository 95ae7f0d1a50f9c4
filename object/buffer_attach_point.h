// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <memory>
#include <mutex>

namespace [[gnu::visibility("default")]] patchbay {

class SendBuffer;

// The place at which a program attaches a buffer for buffered sends: a communicator, a session or the process has one.
// Threads may attach, detach and send concurrently (MPI-5.0, 11.6.1), so that each user of a buffer holds a shared
// pointer to it. Thread-safe.
class BufferAttachPoint {
public:
    BufferAttachPoint() noexcept;
    ~BufferAttachPoint();
    BufferAttachPoint(const BufferAttachPoint&) = delete;
    BufferAttachPoint& operator=(const BufferAttachPoint&) = delete;

    // null: no buffer is attached.
    std::shared_ptr<SendBuffer> get() const noexcept;
    // false: a buffer is attached already.
    bool attach(std::shared_ptr<SendBuffer> buffer) noexcept;
    // false: this buffer is not attached any more.
    bool detach(const std::shared_ptr<SendBuffer>& buffer) noexcept;

private:
    mutable std::mutex _mutex;
    std::shared_ptr<SendBuffer> _buffer;
    std::atomic<bool> _attached{false}; // read before the mutex is locked: most communicators have no buffer
};

} // namespace patchbay
