// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/out_of_memory.h"
#include "frameworks/osc/combine.h"
#include "frameworks/osc/osc.h"
#include "object/convertor.h"
#include "object/error_cause.h"
#include "object/handle.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <sys/uio.h>

namespace patchbay::common {

// Updates of single elements with processor atomics, for windows with mpi_accumulate_granularity whose memory all
// members have mapped. Whether an element is updated so depends on nothing but its type and its address, so that all
// operations on one element do the same. MPI does not permit that two accumulates at one place have different types
// (MPI-5.0, 12.7.1).

constexpr bool has_atomic_size(std::size_t bytes) noexcept {
    return bytes <= 8 && std::has_single_bit(bytes);
}
inline bool is_atomic_place(const void* place, std::size_t bytes) noexcept {
    return (reinterpret_cast<std::uintptr_t>(place) & (bytes - 1)) == 0;
}
// Pairs have none, because in a derived type their members are elements of their own.
inline bool has_atomics(const BasicType& type) noexcept {
    return type.size == type.extent && has_atomic_size(type.size) && !type.is_pair();
}

// For how many bytes the program wants accumulates to synchronize; 0: it does not say so, or for more bytes than the
// largest element with an atomic has. Where it is 0 in one member, all updates hold the lock.
inline std::uint8_t granularity_of(const Window& window) noexcept {
    constexpr std::uint64_t largest_atomic = 8;
    return unless_out_of_memory(std::uint8_t(0), [&] {
        const std::string text = window.hints->get("mpi_accumulate_granularity").value_or(std::string());
        std::uint64_t bytes = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
        const bool valid = error == std::errc() && end == text.data() + text.size() && bytes <= largest_atomic;
        return valid ? std::uint8_t(bytes) : std::uint8_t(0);
    });
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
    static bool find(const Op& op, BasicIndex type, AtomicOp& found) noexcept {
        const Machine machine = basic_type(type).machine;
        if (&op == to_object<Op>(MPI_NO_OP)) {
            found = {Kind::read};
        } else if (&op == to_object<Op>(MPI_REPLACE)) {
            found = {Kind::replace};
        } else if (&op == to_object<Op>(MPI_SUM) && machine >= Machine::i8 && machine <= Machine::u64) {
            found = {Kind::add};
        } else {
            found = {Kind::kernel, op.kernel(type)};
            return found.kernel != nullptr;
        }
        return true;
    }

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

// One that is at an odd place: a kernel needs aligned operands.
template <class Number>
Number update_plainly(const AtomicOp& op, std::byte* place, const std::byte* operand) noexcept {
    const auto former = load_number<Number>(place);
    Number changed = former;
    op.apply<Number>(&changed, operand);
    std::memcpy(place, &changed, sizeof changed);
    return former;
}

// `operands` and `former`, which may be null, have the elements of the block one behind the other.
template <class Number>
void update_block(
    const AtomicOp& op, std::span<std::byte> block, const std::byte* operands, std::byte* former) noexcept {
    for (std::size_t at = 0; at < block.size(); at += sizeof(Number)) {
        std::byte* const place = block.data() + at;
        const Number old = is_atomic_place(place, sizeof(Number)) ? op.apply<Number>(place, operands + at)
                                                                  : update_plainly<Number>(op, place, operands + at);
        if (former != nullptr) {
            std::memcpy(former + at, &old, sizeof old);
        }
    }
}

// The update of an accumulate of elements that have an atomic size: those at aligned places one by one, the rest as
// combine() does, for which the caller holds the lock of the target. `result`: what is to have the former values, or
// null. `origin` has no meaning with AtomicOp::Kind::read. Some elements at a time, by way of arrays where the buffers
// of the caller are none.
inline void update_elements(const AtomicOp& op, std::size_t element_bytes, const osc::Origin& origin,
    const osc::Fetched* result, void* memory, MPI_Count count, const Datatype& type) noexcept {
    constexpr std::size_t most = 2048; // a multiple of each size
    alignas(64) std::array<std::byte, most> packed;
    alignas(64) std::array<std::byte, most> former;
    Convertor from;
    Convertor into;
    if (op.kind != AtomicOp::Kind::read) {
        from = Convertor(*origin.type, origin.count, origin.buffer);
    }
    if (result != nullptr) {
        into = Convertor(*result->type, result->count, result->buffer);
    }
    const std::byte* const operands = from.contiguous();
    std::byte* const results = into.contiguous();
    Convertor places(type, count, memory);
    while (places.remaining() > 0) {
        const std::size_t start = places.position();
        iovec block;
        if (places.next_blocks({&block, 1}, most) == 0) {
            return;
        }
        if (op.kind != AtomicOp::Kind::read && operands == nullptr) {
            from.pack(packed.data(), block.iov_len);
        }
        std::byte* const kept = result == nullptr ? nullptr : results != nullptr ? results + start : former.data();
        const std::span<std::byte> elements(static_cast<std::byte*>(block.iov_base), block.iov_len);
        with_number(element_bytes, [&](auto number) {
            update_block<decltype(number)>(op, elements, operands != nullptr ? operands + start : packed.data(), kept);
        });
        if (kept == former.data()) {
            into.unpack(former.data(), block.iov_len);
        }
    }
}

[[gnu::cold]] inline int refuse_op() noexcept {
    return note_cause(MPI_ERR_OP, "the operation is not defined for the datatype");
}

// An accumulate to `memory`, the mapped memory of the target. false: its elements have no atomics, and nothing is done.
// A derived type may have elements at places that are no multiples of their size; with_lock(step) calls step with the
// lock of the target for accumulates held, as all operations on these do, and returns its code or an error.
template <class WithLock>
bool update_singly(const osc::Origin& origin, const osc::Fetched* result, std::byte* memory, const osc::Target& target,
    const Op& op, int* code, const WithLock& with_lock) noexcept {
    const BasicIndex element = osc::element_type(*target.type);
    const BasicType& basic = basic_type(element);
    if (!has_atomics(basic)) {
        return false;
    }
    AtomicOp found{};
    if (!AtomicOp::find(op, element, found)) {
        *code = refuse_op();
        return true;
    }
    *code = MPI_SUCCESS;
    const bool all_aligned = target.type->basic != 0 && is_atomic_place(memory, basic.size);
    if (all_aligned && result == nullptr && target.count == 1 && origin.type == target.type) [[likely]] {
        with_number(basic.size, [&](auto number) { found.apply<decltype(number)>(memory, origin.buffer); });
        return true;
    }
    const auto step = [&] {
        update_elements(found, basic.size, origin, result, memory, target.count, *target.type);
        return int(MPI_SUCCESS);
    };
    *code = all_aligned ? step() : with_lock(step);
    return true;
}

inline bool is_atomic_element(const Datatype& type, const void* memory) noexcept {
    return has_atomics(basic_type(type.basic)) && is_atomic_place(memory, std::size_t(type.size));
}

// Both for an element that is_atomic_element(). Not inlined, so that the way with a lock in front of which they are
// asked for stays short.
[[gnu::noinline]] inline int fetch_singly(
    const void* origin, void* result, const Datatype& type, std::byte* memory, const Op& op) noexcept {
    AtomicOp found{};
    if (!AtomicOp::find(op, type.basic, found)) {
        return refuse_op();
    }
    with_number(std::size_t(type.size), [&](auto number) {
        const auto former = found.apply<decltype(number)>(memory, origin);
        std::memcpy(result, &former, sizeof former);
    });
    return MPI_SUCCESS;
}

[[gnu::noinline]] inline int swap_singly(
    const void* origin, const void* compare, void* result, const Datatype& type, std::byte* memory) noexcept {
    with_number(std::size_t(type.size), [&](auto number) {
        using Number = decltype(number);
        auto former = load_number<Number>(compare);
        const std::atomic_ref<Number> element(*reinterpret_cast<Number*>(memory));
        element.compare_exchange_strong(former, load_number<Number>(origin), std::memory_order_acq_rel);
        std::memcpy(result, &former, sizeof former);
    });
    return MPI_SUCCESS;
}

} // namespace patchbay::common
