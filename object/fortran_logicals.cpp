// SPDX-License-Identifier: BSD-3-Clause
#include "object/fortran_logicals.h"

#include <mutex>

namespace patchbay {

constinit std::atomic<std::size_t> FortranLogicals::_size{0};
std::byte FortranLogicals::_yes[largest];
std::byte FortranLogicals::_no[largest];

bool FortranLogicals::set(std::size_t size, const void* yes, const void* no) noexcept {
    static constinit std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (_size.load(std::memory_order_relaxed) != 0) {
        return false;
    }
    std::memcpy(_yes, yes, size);
    std::memcpy(_no, no, size);
    _size.store(size, std::memory_order_release);
    return true;
}

} // namespace patchbay
