// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace [[gnu::visibility("default")]] patchbay {

class SendBuffer;

// The place at which a program attaches a buffer for buffered sends: a communicator, a session or the process has one.
// Threads may attach, detach and send concurrently (MPI-5.0, 11.6.1), so that each user of a buffer holds a shared
// pointer to it. Thread-safe.
class BufferAttachPoint {
public:
    // null: no buffer is attached.
    std::shared_ptr<SendBuffer> get() const noexcept {
        if (!_attached.load(std::memory_order_acquire)) {
            return nullptr;
        }
        std::lock_guard lock(_mutex);
        return _buffer;
    }
    // false: a buffer is attached already.
    bool attach(std::shared_ptr<SendBuffer> buffer) noexcept {
        std::lock_guard lock(_mutex);
        if (_buffer != nullptr) {
            return false;
        }
        _buffer = std::move(buffer);
        _attached.store(true, std::memory_order_release);
        return true;
    }
    // false: this buffer is not attached any more.
    bool detach(const std::shared_ptr<SendBuffer>& buffer) noexcept {
        std::lock_guard lock(_mutex);
        const bool here = _buffer == buffer;
        if (here) {
            _buffer.reset();
            _attached.store(false, std::memory_order_release);
        }
        return here;
    }

private:
    mutable std::mutex _mutex;
    std::shared_ptr<SendBuffer> _buffer;
    std::atomic<bool> _attached{false}; // read before the mutex is locked: most communicators have no buffer
};

} // namespace patchbay
