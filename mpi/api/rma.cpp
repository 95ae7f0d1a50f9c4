// SPDX-License-Identifier: BSD-3-Clause
// One-sided communication (MPI-5.0, 12.3), with and without requests.
#include "mpi/api/rma_args.h"
#include "mpi/instance/instance.h"
#include "object/immediate_request.h"

#include <fmt/core.h>

#include <new>

namespace patchbay::api {

namespace {

constexpr LocalSide origin_side(const void* address, MPI_Count count, MPI_Datatype type) noexcept {
    return {"origin_addr", "origin_count", "origin_datatype", address, count, type};
}
constexpr LocalSide result_side(const void* address, MPI_Count count, MPI_Datatype type) noexcept {
    return {"result_addr", "result_count", "result_datatype", address, count, type};
}

[[gnu::cold, gnu::noinline]] int fail(Window* window, const char* function, int code) noexcept {
    return report(ErrorTarget(window), function, code, {});
}

Progress& progress_of(const Window& window) noexcept {
    return window.comm->progress_or(window.instance->progress());
}

// Ends an operation of which nothing has to be done: with MPI_PROC_NULL, or without data.
int finish_empty(const Arguments& args, MPI_Request* handle, Form form, bool proc_null) noexcept {
    if (form != Form::request) {
        return MPI_SUCCESS;
    }
    MPI_Status status{};
    proc_null ? fill_proc_null_status(status) : fill_empty_status(status);
    const Request* request = new (std::nothrow) ImmediateRequest(progress_of(args.window_object()), status);
    *handle = request != nullptr ? to_handle(request) : MPI_REQUEST_NULL;
    return args.result(request != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM);
}

// The way of an operation whose arguments are not plain. `check` is what its kind needs beside the checks of the
// target; `issue(module, target, request)` calls the module.
template <class Check, class Issue>
int operate(const char* function, MPI_Win win, const TargetSide& side, MPI_Request* handle, Form form,
    const Check& check, const Issue& issue) noexcept {
    Arguments args(function, win);
    if (checking() &&
        !(args.window() && check_rma_target(args, side) && (form != Form::request || args.pointer("request", handle)) &&
            check(args))) {
        return args.code();
    }
    Window& window = args.window_object();
    if (side.rank == MPI_PROC_NULL) {
        return finish_empty(args, handle, form, true);
    }
    if (checking() && !(check_range(args, side) && check_epoch(args, side.rank, form))) {
        return args.code();
    }
    if (is_empty(side)) {
        return finish_empty(args, handle, form, false);
    }
    Request* request = nullptr;
    const int code = issue(*window.module, target_of(window, side), form == Form::request ? &request : nullptr);
    if (form == Form::request) {
        *handle = code == MPI_SUCCESS ? to_handle(request) : MPI_REQUEST_NULL;
    }
    return args.result(code);
}

[[gnu::noinline]] int put_in_full(const char* function, const void* address, MPI_Count count, MPI_Datatype type,
    const TargetSide& side, MPI_Win win, MPI_Request* handle, Form form) noexcept {
    const LocalSide origin = origin_side(address, count, type);
    return operate(
        function, win, side, handle, form,
        [&](Arguments& args) { return check_local(args, origin) && check_same_bytes(args, origin, side); },
        [&](osc::Module& module, const osc::Target& target, Request** request) {
            return module.put({address, count, &type_of(type)}, target, request);
        });
}

[[gnu::always_inline]] inline int put(const char* function, const void* address, MPI_Count count, MPI_Datatype type,
    const TargetSide& side, MPI_Win win) noexcept {
    auto* window = to_object<Window>(win);
    PlainTarget plain;
    if (!transfers_plainly(window, address, count, type, side, &plain)) [[unlikely]] {
        return put_in_full(function, address, count, type, side, win, nullptr, Form::plain);
    }
    const int code = window->module->put({address, count, plain.origin_type}, plain.target, nullptr);
    return code == MPI_SUCCESS ? code : fail(window, function, code);
}

[[gnu::noinline]] int get_in_full(const char* function, void* address, MPI_Count count, MPI_Datatype type,
    const TargetSide& side, MPI_Win win, MPI_Request* handle, Form form) noexcept {
    const LocalSide origin = origin_side(address, count, type);
    return operate(
        function, win, side, handle, form,
        [&](Arguments& args) { return check_local(args, origin) && check_same_bytes(args, origin, side); },
        [&](osc::Module& module, const osc::Target& target, Request** request) {
            return module.get({address, count, &type_of(type)}, target, request);
        });
}

[[gnu::always_inline]] inline int get(const char* function, void* address, MPI_Count count, MPI_Datatype type,
    const TargetSide& side, MPI_Win win) noexcept {
    auto* window = to_object<Window>(win);
    PlainTarget plain;
    if (!transfers_plainly(window, address, count, type, side, &plain)) [[unlikely]] {
        return get_in_full(function, address, count, type, side, win, nullptr, Form::plain);
    }
    const int code = window->module->get({address, count, plain.origin_type}, plain.target, nullptr);
    return code == MPI_SUCCESS ? code : fail(window, function, code);
}

[[gnu::noinline]] int accumulate_in_full(const char* function, const void* address, MPI_Count count, MPI_Datatype type,
    const TargetSide& side, MPI_Op op, MPI_Win win, MPI_Request* handle, Form form) noexcept {
    const LocalSide origin = origin_side(address, count, type);
    return operate(
        function, win, side, handle, form,
        [&](Arguments& args) {
            return check_local(args, origin) && check_accumulate_op(args, op, side.type, false) &&
                check_same_bytes(args, origin, side) &&
                (is_empty(side) || check_same_elements(args, origin.type_name, type, side.type));
        },
        [&](osc::Module& module, const osc::Target& target, Request** request) {
            return module.accumulate({address, count, &type_of(type)}, target, *to_object<Op>(op), request);
        });
}

// A predefined op with a predefined type for which it is defined.
[[gnu::always_inline]] inline const Op* plain_op(MPI_Op handle, const Datatype& type) noexcept {
    const std::uintptr_t value = reinterpret_cast<std::uintptr_t>(handle) - HandleTraits<Op>::first;
    const Op* op = value < HandleTraits<Op>::count ? Predefined<Op>::table[value] : nullptr;
    return op != nullptr && type.basic != 0 && op->kernel(type.basic) != nullptr ? op : nullptr;
}

[[gnu::always_inline]] inline int accumulate(const char* function, const void* address, MPI_Count count,
    MPI_Datatype type, const TargetSide& side, MPI_Op handle, MPI_Win win) noexcept {
    auto* window = to_object<Window>(win);
    PlainTarget plain;
    const Op* op = nullptr;
    if (type != side.type || handle == MPI_NO_OP || !transfers_plainly(window, address, count, type, side, &plain) ||
        (op = plain_op(handle, *plain.origin_type)) == nullptr) [[unlikely]] {
        return accumulate_in_full(function, address, count, type, side, handle, win, nullptr, Form::plain);
    }
    const int code = window->module->accumulate({address, count, plain.origin_type}, plain.target, *op, nullptr);
    return code == MPI_SUCCESS ? code : fail(window, function, code);
}

// With MPI_NO_OP the origin has no meaning, and is not looked at.
int get_accumulate(const char* function, const LocalSide& origin, const LocalSide& result, const TargetSide& side,
    MPI_Op op, MPI_Win win, MPI_Request* handle, Form form) noexcept {
    const bool reads = op == MPI_NO_OP;
    return operate(
        function, win, side, handle, form,
        [&](Arguments& args) {
            return (reads || check_local(args, origin)) && check_local(args, result) &&
                check_accumulate_op(args, op, side.type, true) && (reads || check_same_bytes(args, origin, side)) &&
                check_same_bytes(args, result, side) &&
                (is_empty(side) ||
                    ((reads || check_same_elements(args, origin.type_name, origin.type, side.type)) &&
                        check_same_elements(args, result.type_name, result.type, side.type)));
        },
        [&](osc::Module& module, const osc::Target& target, Request** request) {
            // The origin of MPI_NO_OP is that of the result, so that all members of the structure are valid.
            const LocalSide& from = reads ? result : origin;
            return module.get_accumulate({from.address, from.count, &type_of(from.type)},
                {const_cast<void*>(result.address), result.count, &type_of(result.type)}, target, *to_object<Op>(op),
                request);
        });
}

// The operations on one element of a predefined type.
bool check_one_element(Arguments& args, MPI_Datatype type) noexcept {
    return args.datatype("datatype", type) &&
        (is_predefined(type) || args.refuse(MPI_ERR_TYPE, "datatype is not a predefined datatype"));
}

template <class Check, class Issue>
int operate_on_one(const char* function, const void* result, MPI_Datatype type, int rank, MPI_Aint displacement,
    MPI_Win win, const Check& check, const Issue& issue) noexcept {
    return operate(
        function, win, {rank, displacement, 1, type, "datatype"}, nullptr, Form::plain,
        [&](Arguments& args) {
            return check_one_element(args, type) && args.buffer("result_addr", result, 1, type) && check(args);
        },
        [&](osc::Module& module, const osc::Target& target, Request**) {
            return issue(module, *target.type, target.place);
        });
}

[[gnu::noinline]] int fetch_and_op_in_full(const void* origin, void* result, MPI_Datatype type, int rank,
    MPI_Aint displacement, MPI_Op op, MPI_Win win) noexcept {
    return operate_on_one(
        "MPI_Fetch_and_op", result, type, rank, displacement, win,
        [&](Arguments& args) {
            return check_accumulate_op(args, op, type, true) &&
                (op == MPI_NO_OP || args.buffer("origin_addr", origin, 1, type));
        },
        [&](osc::Module& module, const Datatype& element, std::uint64_t place) {
            return module.fetch_and_op(origin, result, element, rank, place, *to_object<Op>(op));
        });
}

int fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank, MPI_Aint displacement, MPI_Op handle,
    MPI_Win win) noexcept {
    auto* window = to_object<Window>(win);
    PlainTarget plain;
    const Op* op = nullptr;
    if (!is_predefined(type) || (is_special_address(origin) && handle != MPI_NO_OP) ||
        !transfers_plainly(window, result, 1, type, {rank, displacement, 1, type}, &plain) ||
        (op = plain_op(handle, *plain.origin_type)) == nullptr) [[unlikely]] {
        return fetch_and_op_in_full(origin, result, type, rank, displacement, handle, win);
    }
    const int code = window->module->fetch_and_op(origin, result, *plain.origin_type, rank, plain.target.place, *op);
    return code == MPI_SUCCESS ? code : fail(window, "MPI_Fetch_and_op", code);
}

// C integers, Fortran integers, logicals, multi-language types and bytes (MPI-5.0, 12.3.4).
bool can_be_compared(const Datatype& type) noexcept {
    const TypeGroup group = basic_type(type.basic).group;
    return group == TypeGroup::c_integer || group == TypeGroup::fortran_integer || group == TypeGroup::logical ||
        group == TypeGroup::multi_language || group == TypeGroup::byte;
}

[[gnu::noinline]] int compare_and_swap_in_full(const void* origin, const void* compare, void* result, MPI_Datatype type,
    int rank, MPI_Aint displacement, MPI_Win win) noexcept {
    return operate_on_one(
        "MPI_Compare_and_swap", result, type, rank, displacement, win,
        [&](Arguments& args) {
            return (can_be_compared(type_of(type)) ||
                       args.refuse(MPI_ERR_TYPE,
                           "datatype is neither an integer, a logical, a byte nor one of the "
                           "multi-language types")) &&
                args.buffer("origin_addr", origin, 1, type) && args.buffer("compare_addr", compare, 1, type);
        },
        [&](osc::Module& module, const Datatype& element, std::uint64_t place) {
            return module.compare_and_swap(origin, compare, result, element, rank, place);
        });
}

int compare_and_swap(const void* origin, const void* compare, void* result, MPI_Datatype type, int rank,
    MPI_Aint displacement, MPI_Win win) noexcept {
    auto* window = to_object<Window>(win);
    PlainTarget plain;
    if (!is_predefined(type) || is_special_address(origin) || is_special_address(compare) ||
        !transfers_plainly(window, result, 1, type, {rank, displacement, 1, type}, &plain) ||
        !can_be_compared(*plain.origin_type)) [[unlikely]] {
        return compare_and_swap_in_full(origin, compare, result, type, rank, displacement, win);
    }
    const int code =
        window->module->compare_and_swap(origin, compare, result, *plain.origin_type, rank, plain.target.place);
    return code == MPI_SUCCESS ? code : fail(window, "MPI_Compare_and_swap", code);
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
    return api::put("MPI_Put", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, win);
}
int PMPI_Put_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
    return api::put("MPI_Put_c", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, win);
}
int PMPI_Rput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
    return api::put_in_full("MPI_Rput", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, win, request, api::Form::request);
}
int PMPI_Rput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
    return api::put_in_full("MPI_Rput_c", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, win, request, api::Form::request);
}
int PMPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
    int target_count, MPI_Datatype target_datatype, MPI_Win win) {
    return api::get("MPI_Get", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, win);
}
int PMPI_Get_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
    return api::get("MPI_Get_c", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, win);
}
int PMPI_Rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
    int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
    return api::get_in_full("MPI_Rget", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, win, request, api::Form::request);
}
int PMPI_Rget_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
    return api::get_in_full("MPI_Rget_c", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, win, request, api::Form::request);
}
int PMPI_Accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    return api::accumulate("MPI_Accumulate", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, op, win);
}
int PMPI_Accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    return api::accumulate("MPI_Accumulate_c", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, op, win);
}
int PMPI_Raccumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
    MPI_Request* request) {
    return api::accumulate_in_full("MPI_Raccumulate", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, op, win, request, api::Form::request);
}
int PMPI_Raccumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
    MPI_Request* request) {
    return api::accumulate_in_full("MPI_Raccumulate_c", origin_addr, origin_count, origin_datatype,
        {target_rank, target_disp, target_count, target_datatype}, op, win, request, api::Form::request);
}
int PMPI_Get_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, void* result_addr,
    int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    return api::get_accumulate("MPI_Get_accumulate", api::origin_side(origin_addr, origin_count, origin_datatype),
        api::result_side(result_addr, result_count, result_datatype),
        {target_rank, target_disp, target_count, target_datatype}, op, win, nullptr, api::Form::plain);
}
int PMPI_Get_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    return api::get_accumulate("MPI_Get_accumulate_c", api::origin_side(origin_addr, origin_count, origin_datatype),
        api::result_side(result_addr, result_count, result_datatype),
        {target_rank, target_disp, target_count, target_datatype}, op, win, nullptr, api::Form::plain);
}
int PMPI_Rget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, void* result_addr,
    int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
    return api::get_accumulate("MPI_Rget_accumulate", api::origin_side(origin_addr, origin_count, origin_datatype),
        api::result_side(result_addr, result_count, result_datatype),
        {target_rank, target_disp, target_count, target_datatype}, op, win, request, api::Form::request);
}
int PMPI_Rget_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
    return api::get_accumulate("MPI_Rget_accumulate_c", api::origin_side(origin_addr, origin_count, origin_datatype),
        api::result_side(result_addr, result_count, result_datatype),
        {target_rank, target_disp, target_count, target_datatype}, op, win, request, api::Form::request);
}
int PMPI_Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
    MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
    return api::fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
}
int PMPI_Compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr, MPI_Datatype datatype,
    int target_rank, MPI_Aint target_disp, MPI_Win win) {
    return api::compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
}
