// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/osc/osc.h"

#include <atomic>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace patchbay::osc::sm {

// Updates of single elements with processor atomics, for windows with mpi_accumulate_granularity. Whether an element is
// updated so depends on nothing but its size and its address, so that all operations on one element do the same.

constexpr bool has_atomic_size(std::size_t bytes) noexcept {
    return bytes <= 8 && std::has_single_bit(bytes);
}
inline bool is_atomic_place(const void* place, std::size_t bytes) noexcept {
    return (reinterpret_cast<std::uintptr_t>(place) & (bytes - 1)) == 0;
}

// Calls act(number) with a number of `bytes` bytes, which has_atomic_size().
template <class Act>
[[gnu::always_inline]] inline void with_number(std::size_t bytes, const Act& act) {
    switch (bytes) {
    case 1:
        return act(std::uint8_t{});
    case 2:
        return act(std::uint16_t{});
    case 4:
        return act(std::uint32_t{});
    default:
        return act(std::uint64_t{});
    }
}

template <std::unsigned_integral Number>
Number load_number(const void* from) noexcept {
    Number number;
    std::memcpy(&number, from, sizeof number);
    return number;
}

// What an accumulate does with each element.
struct AtomicOp {
    enum class Kind : std::uint8_t {
        read,    // MPI_NO_OP
        replace, // MPI_REPLACE
        add,     // MPI_SUM of integers, which wrap
        kernel,
    };
    Kind kind;
    Op::Kernel kernel = nullptr;

    // false: the op is not defined for the type.
    static bool find(const Op& op, BasicIndex type, AtomicOp& found) noexcept;

    // Returns the former value of the element at `place`, an aligned one. `operand` is the address of the origin's
    // value, which need not be aligned. All with the order of a locked instruction, or weaker: MPI orders what follows
    // a flush.
    template <std::unsigned_integral Number>
    Number apply(void* place, const void* operand) const noexcept {
        const std::atomic_ref<Number> element(*static_cast<Number*>(place));
        switch (kind) {
        case Kind::read:
            return element.load(std::memory_order_acquire);
        case Kind::replace:
            return element.exchange(load_number<Number>(operand), std::memory_order_acq_rel);
        case Kind::add:
            return element.fetch_add(load_number<Number>(operand), std::memory_order_acq_rel);
        case Kind::kernel:
            break;
        }
        const auto value = load_number<Number>(operand);
        Number former = element.load(std::memory_order_relaxed);
        Number changed;
        do {
            changed = former;
            kernel(&value, &changed, 1);
        } while (!element.compare_exchange_weak(former, changed, std::memory_order_acq_rel, std::memory_order_relaxed));
        return former;
    }
};

// The update of an accumulate of elements that have an atomic size: those at aligned places one by one, the rest as
// combine() does, for which the caller holds the lock of the target. `result`: what is to have the former values, or
// null. `origin` has no meaning with AtomicOp::Kind::read.
void update_elements(const AtomicOp& op, std::size_t element_bytes, const Origin& origin, const Fetched* result,
    void* memory, MPI_Count count, const Datatype& type) noexcept;

} // namespace patchbay::osc::sm
