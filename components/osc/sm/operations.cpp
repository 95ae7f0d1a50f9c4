// SPDX-License-Identifier: BSD-3-Clause
// Communication: copies and updates by the calling process.
#include "components/common/atomic_update.h"
#include "components/common/window_copy.h"
#include "components/osc/sm/module.h"
#include "frameworks/osc/combine.h"
#include "object/error_cause.h"
#include "object/handle.h"
#include "object/typed_copy.h"

#include <cstring>

namespace patchbay::osc::sm {

using common::refuse_op;

namespace {

[[gnu::noinline]] int copy_any(const void* from, MPI_Count from_count, const Datatype& from_type, void* to,
    MPI_Count to_count, const Datatype& to_type) noexcept {
    const MPI_Count bytes = from_count * from_type.size;
    if (from_type.dense && to_type.dense && bytes == to_count * to_type.size) {
        common::copy_window(static_cast<std::byte*>(to) + to_type.true_lower_bound,
            static_cast<const std::byte*>(from) + from_type.true_lower_bound, std::size_t(bytes));
        return MPI_SUCCESS;
    }
    return typed_copy(from, from_count, from_type, to, to_count, to_type);
}

// Copies a single number; false: it is something else.
[[gnu::always_inline]] inline bool copy_number(const void* from, MPI_Count from_count, const Datatype& from_type,
    void* to, MPI_Count to_count, const Datatype& to_type) noexcept {
    constexpr MPI_Count bytes = 8;
    if (from_count * from_type.size != bytes || to_count * to_type.size != bytes || !from_type.dense || !to_type.dense)
        [[unlikely]] {
        return false;
    }
    std::memcpy(static_cast<std::byte*>(to) + to_type.true_lower_bound,
        static_cast<const std::byte*>(from) + from_type.true_lower_bound, bytes);
    return true;
}

bool are_aligned(const void* one, const void* other, const Datatype& type) noexcept {
    const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(one) | reinterpret_cast<std::uintptr_t>(other);
    return (bits & (std::uintptr_t(type.alignment) - 1)) == 0; // a power of two
}

// MPI_NO_OP, whose origin has no meaning.
bool reads_only(const Op& op) noexcept {
    return &op == to_object<Op>(MPI_NO_OP);
}

} // namespace

int Sm::put(const Origin& origin, const Target& target, Request** request) noexcept {
    std::byte* memory = at(target);
    if (request == nullptr &&
        copy_number(origin.buffer, origin.count, *origin.type, memory, target.count, *target.type)) [[likely]] {
        return MPI_SUCCESS;
    }
    return put_any(origin, target, request);
}

int Sm::put_any(const Origin& origin, const Target& target, Request** request) noexcept {
    return done(copy_any(origin.buffer, origin.count, *origin.type, at(target), target.count, *target.type), request);
}

int Sm::get(const Fetched& result, const Target& target, Request** request) noexcept {
    const std::byte* memory = at(target);
    if (request == nullptr &&
        copy_number(memory, target.count, *target.type, result.buffer, result.count, *result.type)) [[likely]] {
        return MPI_SUCCESS;
    }
    return get_any(result, target, request);
}

int Sm::get_any(const Fetched& result, const Target& target, Request** request) noexcept {
    return done(copy_any(at(target), target.count, *target.type, result.buffer, result.count, *result.type), request);
}

// The lock of a member's memory for accumulates.
inline int Sm::lock_elements(int rank) noexcept {
    Control& control = *peer(rank).control;
    if (control.elements.try_lock(this->rank())) [[likely]] {
        return MPI_SUCCESS;
    }
    return wait_for_elements(control);
}

int Sm::wait_for_elements(Control& control) noexcept {
    return control.elements.lock(rank(), control.wants(size()), [&](const auto& done) {
        return _waits.until(done, [&] {
            const std::int64_t holder = control.elements.holder();
            return holder >= 0 && has_ended(int(holder));
        });
    });
}

inline void Sm::unlock_elements(int rank) noexcept {
    Control& control = *peer(rank).control;
    control.elements.unlock(this->rank(), control.wants(size()), size(), ringer());
}

bool Sm::update_singly(
    const Origin& origin, const Fetched* result, const Target& target, const Op& op, int* code) noexcept {
    return common::update_singly(origin, result, at(target), target, op, code, [&](const auto& step) {
        const int locked = lock_elements(target.rank);
        if (locked == MPI_SUCCESS) {
            step();
            unlock_elements(target.rank);
        }
        return locked;
    });
}

int Sm::accumulate(const Origin& origin, const Target& target, const Op& op, Request** request) noexcept {
    if (int code = MPI_SUCCESS; _granularity != 0 && update_singly(origin, nullptr, target, op, &code)) [[unlikely]] {
        return done(code, request);
    }
    if (const int code = lock_elements(target.rank); code != MPI_SUCCESS) {
        return code;
    }
    const int code = combine(op, origin.buffer, origin.count, *origin.type, at(target), target.count, *target.type);
    unlock_elements(target.rank);
    return code == MPI_ERR_OP ? refuse_op() : done(code, request);
}

int Sm::get_accumulate(
    const Origin& origin, const Fetched& result, const Target& target, const Op& op, Request** request) noexcept {
    if (int code = MPI_SUCCESS; _granularity != 0 && update_singly(origin, &result, target, op, &code)) [[unlikely]] {
        return done(code, request);
    }
    if (const int code = lock_elements(target.rank); code != MPI_SUCCESS) {
        return code;
    }
    int code = copy_any(at(target), target.count, *target.type, result.buffer, result.count, *result.type);
    if (code == MPI_SUCCESS && !reads_only(op)) {
        code = combine(op, origin.buffer, origin.count, *origin.type, at(target), target.count, *target.type);
    }
    unlock_elements(target.rank);
    return code == MPI_ERR_OP ? refuse_op() : done(code, request);
}

int Sm::fetch_and_op(
    const void* origin, void* result, const Datatype& type, int rank, std::uint64_t place, const Op& op) noexcept {
    const Op::Kernel kernel = op.kernel(type.basic);
    if (kernel == nullptr) [[unlikely]] {
        return refuse_op();
    }
    std::byte* memory = at(rank, place);
    if (_granularity != 0 && common::is_atomic_element(type, memory)) [[unlikely]] {
        return common::fetch_singly(origin, result, type, memory, op);
    }
    if (!type.dense || !are_aligned(memory, origin, type)) [[unlikely]] {
        return Sm::get_accumulate({origin, 1, &type}, {result, 1, &type}, {rank, place, 1, &type}, op, nullptr);
    }
    if (const int code = lock_elements(rank); code != MPI_SUCCESS) {
        return code;
    }
    common::copy_short(result, memory, std::size_t(type.size));
    kernel(origin, memory, 1);
    unlock_elements(rank);
    return MPI_SUCCESS;
}

int Sm::compare_and_swap(const void* origin, const void* compare, void* result, const Datatype& type, int rank,
    std::uint64_t place) noexcept {
    const auto bytes = std::size_t(type.size);
    std::byte* memory = at(rank, place);
    if (_granularity != 0 && common::is_atomic_element(type, memory)) [[unlikely]] {
        return common::swap_singly(origin, compare, result, type, memory);
    }
    if (const int code = lock_elements(rank); code != MPI_SUCCESS) {
        return code;
    }
    const bool equal = std::memcmp(memory, compare, bytes) == 0;
    common::copy_short(result, memory, bytes);
    if (equal) {
        common::copy_short(memory, origin, bytes);
    }
    unlock_elements(rank);
    return MPI_SUCCESS;
}

} // namespace patchbay::osc::sm
