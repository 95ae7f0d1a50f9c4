// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace patchbay::osc::rdma {

// The members of a window that have failed, as far as this process knows. Any thread.
class Failures {
public:
    explicit Failures(int size)
        : _size(size),
          _failed(new std::atomic<bool>[std::size_t(size)]()) {}

    // Grows with each failure: a wait looks at the members again when it has changed.
    std::uint32_t count() const noexcept { return _count.load(std::memory_order_acquire); }
    bool has_failed(int member) const noexcept {
        return count() != 0 && _failed[std::size_t(member)].load(std::memory_order_acquire);
    }
    void note(int member) noexcept {
        if (!_failed[std::size_t(member)].exchange(true, std::memory_order_acq_rel)) {
            _count.fetch_add(1, std::memory_order_acq_rel);
        }
    }
    // One of them; -1: none has failed.
    int first() const noexcept {
        int member = 0;
        while (member < _size && !has_failed(member)) {
            ++member;
        }
        return member < _size ? member : -1;
    }

private:
    int _size;
    std::atomic<std::uint32_t> _count{0};
    std::unique_ptr<std::atomic<bool>[]> _failed;
};

} // namespace patchbay::osc::rdma
