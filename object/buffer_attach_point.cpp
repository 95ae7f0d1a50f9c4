// SPDX-License-Identifier: BSD-3-Clause
#include "object/buffer_attach_point.h"

#include <utility>

namespace patchbay {

BufferAttachPoint::BufferAttachPoint() noexcept = default;
BufferAttachPoint::~BufferAttachPoint() = default;

std::shared_ptr<SendBuffer> BufferAttachPoint::get() const noexcept {
    if (!_attached.load(std::memory_order_acquire)) {
        return nullptr;
    }
    const std::lock_guard lock(_mutex);
    return _buffer;
}

bool BufferAttachPoint::attach(std::shared_ptr<SendBuffer> buffer) noexcept {
    const std::lock_guard lock(_mutex);
    if (_buffer != nullptr) {
        return false;
    }
    _buffer = std::move(buffer);
    _attached.store(true, std::memory_order_release);
    return true;
}

bool BufferAttachPoint::detach(const std::shared_ptr<SendBuffer>& buffer) noexcept {
    const std::lock_guard lock(_mutex);
    const bool here = _buffer == buffer;
    if (here) {
        _buffer.reset();
        _attached.store(false, std::memory_order_release);
    }
    return here;
}

} // namespace patchbay
