// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/osc/combine.h"
#include "frameworks/osc/epochs.h"
#include "frameworks/osc/osc.h"
#include "mpi/api/args.h"
#include "object/window.h"

#include <algorithm>
#include <cstdint>

// Functions that the bindings of one-sided operations use.
namespace patchbay::api {

// The arguments of an operation: a buffer of the calling process, and a place at the target.
struct LocalSide {
    const char* address_name;
    const char* count_name;
    const char* type_name;
    const void* address;
    MPI_Count count;
    MPI_Datatype type;
};
struct TargetSide {
    int rank;
    MPI_Aint displacement;
    MPI_Count count;
    MPI_Datatype type;
    const char* type_name = "target_datatype";
};

// What is known of an operation whose arguments are as in most programs: nothing has to be checked further.
struct PlainTarget {
    const Datatype* origin_type;
    osc::Target target;
};

// Whether the arguments pass all checks, an epoch to the target is open, and bytes without gaps are accessed that lie
// in the target's memory; then *plain is set. false: the functions below decide, and report what is wrong. The numbers
// are so small that no product overflows; a dynamic window has members without memory, so that nothing there is plain.
[[gnu::always_inline]] inline bool transfers_plainly(Window* window, const void* address, MPI_Count count,
    MPI_Datatype type, const TargetSide& side, PlainTarget* plain) noexcept {
    const auto* origin_type = probed_object<Datatype>(type);
    const auto* target_type = probed_object<Datatype>(side.type);
    if (!thread_is_known() || window == nullptr || !is_object(window) || window->freed ||
        static_cast<unsigned>(side.rank) >= static_cast<unsigned>(window->size) || origin_type == nullptr ||
        target_type == nullptr || is_special_address(address)) {
        return false;
    }
    const WindowMember& member = window->members[std::size_t(side.rank)];
    const auto size = std::uint64_t(origin_type->size) * std::uint64_t(count);
    const auto target_size = std::uint64_t(target_type->size) * std::uint64_t(side.count);
    const std::uint64_t place = std::uint64_t(side.displacement) * member.displacement_unit;
    const std::uint64_t small = std::uint64_t(origin_type->size) | std::uint64_t(target_type->size) |
        std::uint64_t(count) | std::uint64_t(side.count) | std::uint64_t(side.displacement) >> 1;
    *plain = {origin_type, {side.rank, place, side.count, target_type}};
    return small >> 31 == 0 && size != 0 && size == target_size && place + size <= member.bytes &&
        origin_type->committed && target_type->committed && target_type->dense && target_type->true_lower_bound == 0 &&
        window->epochs->may_access(side.rank);
}

// How the operation may be issued.
enum class Form : std::uint8_t {
    plain,      // in any access epoch
    request,    // in a passive target epoch only
    persistent, // when it is started; nothing is issued now
};

// The full checks. The order is that of Arguments: each needs those before it.
bool check_rma_target(Arguments& args, const TargetSide& side) noexcept;
bool check_local(Arguments& args, const LocalSide& side) noexcept;
// The bytes of both sides are as many; MPI_ERR_TYPE otherwise.
bool check_same_bytes(Arguments& args, const LocalSide& local, const TargetSide& side) noexcept;
// The operation lies in the memory of the target: MPI_ERR_DISP, MPI_ERR_RMA_RANGE.
bool check_range(Arguments& args, const TargetSide& side) noexcept;
bool check_epoch(Arguments& args, int rank, Form form) noexcept;
// The op of an accumulate is predefined and defined for the type; MPI_NO_OP only where `with_result`.
bool check_accumulate_op(Arguments& args, MPI_Op op, MPI_Datatype target_type, bool with_result) noexcept;
// Both sides consist of elements of the same predefined type.
bool check_same_elements(Arguments& args, const char* name, MPI_Datatype local, MPI_Datatype target) noexcept;

inline bool is_predefined(MPI_Datatype type) noexcept {
    return reinterpret_cast<std::uintptr_t>(type) < first_dynamic_handle;
}

// For a target that is not MPI_PROC_NULL.
inline osc::Target target_of(const Window& window, const TargetSide& side) noexcept {
    const WindowMember& member = window.members[std::size_t(side.rank)];
    return {side.rank, std::uint64_t(side.displacement) * member.displacement_unit, side.count, &type_of(side.type)};
}
inline bool is_empty(const TargetSide& side) noexcept {
    return side.count == 0 || type_of(side.type).size == 0;
}

} // namespace patchbay::api
