// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/check/buffer_check.h"
#include "mpi/check/message.h"

#include <atomic>
#include <cstddef>
#include <memory>

namespace patchbay::check {

// The buffers of one operation that has several: the partitions of a partitioned request, or what a collective sends
// and receives. Each is in use between begin() and end(), which several threads may call; of several calls of end() for
// one buffer one takes effect.
class BufferUses {
public:
    // May throw std::bad_alloc.
    BufferUses(BufferCheck& check, std::size_t count)
        : _check(check),
          _all(new One[count]),
          _count(count) {}
    ~BufferUses() { give_up_all(); }
    BufferUses(const BufferUses&) = delete;
    BufferUses& operator=(const BufferUses&) = delete;

    std::size_t count() const noexcept { return _count; }
    // Before the first begin().
    void describe(std::size_t i, const MessageCall& call) noexcept { _all[i].call = call; }

    void begin(std::size_t i, const CallSite& site) noexcept {
        One& one = _all[i];
        if (!one.in_use.exchange(true, std::memory_order_acq_rel)) {
            one.site = site;
            _check.begin(one.use, one.call, one.site);
        }
    }
    // The program has learned that the operation does not use the buffer any more.
    void end(std::size_t i) noexcept {
        if (_all[i].in_use.exchange(false, std::memory_order_acq_rel)) {
            _check.end(_all[i].use);
        }
    }
    void end_all() noexcept {
        for (std::size_t i = 0; i < _count; ++i) {
            end(i);
        }
    }
    // The program does not learn it.
    void give_up_all() noexcept {
        for (std::size_t i = 0; i < _count; ++i) {
            if (_all[i].in_use.exchange(false, std::memory_order_acq_rel)) {
                _check.give_up(_all[i].use);
            }
        }
    }

private:
    struct One {
        MessageCall call{};
        CallSite site;
        BufferCheck::Use use;
        std::atomic<bool> in_use{false};
    };

    BufferCheck& _check;
    const std::unique_ptr<One[]> _all;
    const std::size_t _count;
};

} // namespace patchbay::check
