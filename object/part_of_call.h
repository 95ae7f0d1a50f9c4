// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"

#include <atomic>
#include <utility>

namespace patchbay {

// While an object of this class exists, the messages that this thread begins are parts of one call of the program: a
// receive of MPI_Sendrecv, or the packed copy that a buffered send sends. For the checking mode, which would take each
// for a call of its own; where that is off, it costs one load.
class PartOfCall {
public:
    // What a send of packed data has packed, which MPI_PACKED does not show.
    struct Packed {
        const void* memory = nullptr; // that is sent; null: nothing is packed
        const Datatype* type = nullptr;
        MPI_Count count = 0;
    };

    // `function`: the name of the call, a text that is never destroyed.
    explicit PartOfCall(const char* function) noexcept
        : PartOfCall(function, Packed()) {}
    PartOfCall(const char* function, Packed packed) noexcept
        : _function(function),
          _packed(packed) {
        if (_is_on.load(std::memory_order_relaxed)) [[unlikely]] {
            _entered = true;
            _outer = std::exchange(_innermost, this);
        }
    }
    ~PartOfCall() {
        if (_entered) [[unlikely]] {
            _innermost = _outer;
        }
    }
    PartOfCall(const PartOfCall&) = delete;
    PartOfCall& operator=(const PartOfCall&) = delete;

    // Whether anyone asks; set while no call of the program is under way.
    static void switch_on(bool on) noexcept { _is_on.store(on, std::memory_order_relaxed); }

    // Whether a message that this thread begins now is such a part.
    static bool is_under_way() noexcept { return _innermost != nullptr; }
    // The call of the program that begins a message; `own` if the message is no part of another one.
    static const char* function_or(const char* own) noexcept {
        return _innermost != nullptr ? _innermost->_function : own;
    }
    // Of a send of that memory; null: it is not known, or the data is not packed.
    static const Packed* packed_in(const void* memory) noexcept {
        const bool is_known = _innermost != nullptr && memory != nullptr && _innermost->_packed.memory == memory;
        return is_known ? &_innermost->_packed : nullptr;
    }

private:
    static inline std::atomic<bool> _is_on{false};
    static inline thread_local const PartOfCall* _innermost = nullptr;

    const char* const _function;
    const Packed _packed;
    bool _entered = false;
    const PartOfCall* _outer = nullptr;
};

} // namespace patchbay
