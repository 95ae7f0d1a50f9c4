// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/rma_args.h"

#include "object/error_cause.h"
#include "object/recipe.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

namespace patchbay::api {

namespace {

// The bytes that `count` elements occupy, relative to the place of the first.
struct Span {
    Wide begin;
    Wide end;
};

Span span_of(const Datatype& type, MPI_Count count) noexcept {
    const Wide last = Wide(count - 1) * type.extent;
    return {type.true_lower_bound + std::min<Wide>(last, 0),
        type.true_lower_bound + type.true_extent + std::max<Wide>(last, 0)};
}

// Whether all data of the type are of this predefined type. An empty block of a struct has no data.
bool consists_of(const Datatype& type, BasicIndex element) noexcept {
    if (type.basic != 0 || type.size == 0) {
        return type.basic == element || type.size == 0;
    }
    const Recipe& recipe = type.recipe();
    for (std::size_t i = 0; i < recipe.types.size(); ++i) {
        const bool empty = recipe.combiner == MPI_COMBINER_STRUCT && recipe.count(1 + i) == 0;
        if (!empty && !consists_of(*recipe.types[i], element)) {
            return false;
        }
    }
    return true;
}

} // namespace

bool check_rma_target(Arguments& args, const TargetSide& side) noexcept {
    return args.require(side.rank == MPI_PROC_NULL || (side.rank >= 0 && side.rank < args.window_object().size),
               MPI_ERR_RANK, "target_rank", side.rank, "must be that of a member of the window, or MPI_PROC_NULL") &&
        args.count("target_count", side.count) && args.datatype(side.type_name, side.type);
}

bool check_local(Arguments& args, const LocalSide& side) noexcept {
    return args.count(side.count_name, side.count) && args.datatype(side.type_name, side.type) &&
        args.buffer(side.address_name, side.address, side.count, side.type);
}

bool check_same_bytes(Arguments& args, const LocalSide& local, const TargetSide& side) noexcept {
    const Wide own = Wide(local.count) * type_of(local.type).size;
    const Wide target = Wide(side.count) * type_of(side.type).size;
    if (std::max(own, target) > Wide(PTRDIFF_MAX)) {
        return args.refuse(MPI_ERR_COUNT,
            fmt::format("{} and {}, or target_count and target_datatype, describe more bytes than an address space has",
                local.count_name, local.type_name));
    }
    return own == target ||
        args.refuse(MPI_ERR_TYPE,
            fmt::format("{} and {} describe {} bytes, but target_count and target_datatype describe {}",
                local.count_name, local.type_name, std::int64_t(own), std::int64_t(target)));
}

bool check_range(Arguments& args, const TargetSide& side) noexcept {
    const Window& window = args.window_object();
    if (window.flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        return true; // the displacement is an address of the target
    }
    const WindowMember& member = window.members[std::size_t(side.rank)];
    if (!args.require(side.displacement >= 0, MPI_ERR_DISP, "target_disp", side.displacement, "must not be negative")) {
        return false;
    }
    if (is_empty(side)) {
        return true;
    }
    const Span span = span_of(type_of(side.type), side.count);
    const Wide place = Wide(side.displacement) * member.displacement_unit;
    return (place + span.begin >= 0 && place + span.end <= Wide(member.bytes)) ||
        args.refuse(MPI_ERR_RMA_RANGE,
            fmt::format("target_disp {}, times disp_unit {}, and {} elements of the type reach from byte {} to byte {} "
                        "of the memory of rank {}, which has {} bytes",
                side.displacement, member.displacement_unit, side.count, std::int64_t(place + span.begin),
                std::int64_t(place + span.end), side.rank, member.bytes));
}

bool check_epoch(Arguments& args, int rank, Form form) noexcept {
    osc::Epochs& epochs = *args.window_object().epochs;
    if (form == Form::request) {
        return epochs.is_locked(rank) || args.refuse(epochs.refuse_request(rank), {});
    }
    return form == Form::persistent || epochs.may_access(rank) || args.refuse(epochs.refuse_access(rank), {});
}

bool check_accumulate_op(Arguments& args, MPI_Op op, MPI_Datatype target_type, bool with_result) noexcept {
    if (!args.valid<Op>(MPI_ERR_OP, "op", op)) {
        return false;
    }
    const Op* object = to_object<Op>(op);
    if (!object->is_predefined()) {
        return args.refuse(MPI_ERR_OP, "op is not a predefined op, as those of accumulate operations must be");
    }
    if (op == MPI_NO_OP) {
        return with_result || args.refuse(MPI_ERR_OP, "op is MPI_NO_OP, which is for operations with a result only");
    }
    const Datatype& type = type_of(target_type);
    const BasicIndex element = osc::element_type(type);
    return is_empty({0, 0, 1, target_type}) || (element != 0 && object->kernel(element) != nullptr) ||
        args.refuse(MPI_ERR_OP, "op is not defined for the predefined type of which target_datatype consists");
}

bool check_same_elements(Arguments& args, const char* name, MPI_Datatype local, MPI_Datatype target) noexcept {
    if (local == target && type_of(local).basic != 0) {
        return true;
    }
    const BasicIndex own = osc::element_type(type_of(local));
    const BasicIndex other = osc::element_type(type_of(target));
    const bool same = own != 0 && (own == other || basic_type(own).machine == basic_type(other).machine);
    return (same && consists_of(type_of(local), own) && consists_of(type_of(target), other)) ||
        args.refuse(MPI_ERR_TYPE,
            fmt::format("{} and target_datatype do not consist of elements of the same predefined type", name));
}

} // namespace patchbay::api
