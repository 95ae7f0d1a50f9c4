// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <mutex>
#include <utility>

namespace [[gnu::visibility("default")]] patchbay {

class SendBuffer;

// Where the program attaches a buffer for buffered sends: to a communicator, a session or the process. Threads may
// attach, detach and send at once (MPI-5.0, 11.6.1), so whoever uses the buffer holds a share in it. Thread-safe.
class BufferAttachPoint {
public:
    // Null: none is attached.
    std::shared_ptr<SendBuffer> get() const noexcept {
        std::lock_guard lock(_mutex);
        return _buffer;
    }
    // False: one is attached already.
    bool attach(std::shared_ptr<SendBuffer> buffer) noexcept {
        std::lock_guard lock(_mutex);
        if (_buffer != nullptr) {
            return false;
        }
        _buffer = std::move(buffer);
        return true;
    }
    // False: it is not attached any more.
    bool detach(const std::shared_ptr<SendBuffer>& buffer) noexcept {
        std::lock_guard lock(_mutex);
        const bool here = _buffer == buffer;
        if (here) {
            _buffer.reset();
        }
        return here;
    }

private:
    mutable std::mutex _mutex;
    std::shared_ptr<SendBuffer> _buffer;
};

} // namespace patchbay
