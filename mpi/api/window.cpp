// SPDX-License-Identifier: BSD-3-Clause
// Windows: construction and destruction (MPI-5.0, 12.2), their memory, hints, group and names (12.2.3 to 12.2.7, 7.8).
#include "core/base/out_of_memory.h"
#include "mpi/api/args.h"
#include "mpi/api/constructor.h"
#include "mpi/api/handles.h"
#include "mpi/windows/hints.h"
#include "mpi/windows/windows.h"

#include <fmt/core.h>

#include <cstring>
#include <limits>

namespace patchbay::api {

namespace {

struct Shape {
    int flavor;
    void* base;
    MPI_Aint size;
    MPI_Aint displacement_unit;
    MPI_Info info;
};

bool check_size(Arguments& args, MPI_Aint size) noexcept {
    return args.require(size >= 0, MPI_ERR_SIZE, "size", size, "must not be negative");
}

// Attribute MPI_WIN_DISP_UNIT is an int.
bool check_displacement_unit(Arguments& args, MPI_Aint unit) noexcept {
    return args.require(unit > 0 && unit <= std::numeric_limits<int>::max(), MPI_ERR_DISP, "disp_unit", unit,
        "must be positive, and must fit an int");
}

bool check_base(Arguments& args, const Shape& shape) noexcept {
    return shape.flavor != MPI_WIN_FLAVOR_CREATE || shape.base != nullptr || shape.size == 0 ||
        args.refuse(MPI_ERR_BASE, "base is a null pointer, but size is not 0");
}

// A window whose members all have the same error or none: a member whose arguments are wrong takes part nevertheless,
// because the others wait for it.
int make(Arguments& args, const Shape& shape, MPI_Win* win, Window** made) noexcept {
    const bool good = !checking() ||
        (check_size(args, shape.size) && check_displacement_unit(args, shape.displacement_unit) &&
            check_base(args, shape) && args.info_or_null("info", shape.info) && args.pointer("win", win));
    const NewWindow what{shape.flavor, shape.base, std::uint64_t(shape.size), std::uint32_t(shape.displacement_unit),
        good ? to_object<Info>(shape.info) : nullptr};
    const int refused = good ? MPI_SUCCESS : args.code();
    const int code = run_constructor(args, [&] { return construct(*args.comm(), what, refused, made); });
    if (refused != MPI_SUCCESS) { // which has been reported
        return refused;
    }
    *win = code == MPI_SUCCESS ? handle_of_new(args, *made) : MPI_WIN_NULL;
    return args.result(code);
}

int create(const char* function, const Shape& shape, MPI_Comm comm, MPI_Win* win) noexcept {
    Arguments args(function, comm);
    if (checking() && !args.intracommunicator()) {
        return args.code();
    }
    Window* made = nullptr;
    return make(args, shape, win, &made);
}

int allocate(const char* function, const Shape& shape, MPI_Comm comm, void* baseptr, MPI_Win* win) noexcept {
    Arguments args(function, comm);
    if (checking() && !args.intracommunicator()) {
        return args.code();
    }
    Window* made = nullptr;
    if (checking() && !args.pointer("baseptr", baseptr)) {
        const NewWindow none{shape.flavor, nullptr, 0, 1, nullptr};
        run_constructor(args, [&] { return construct(*args.comm(), none, args.code(), &made); });
        return args.code();
    }
    const int code = make(args, shape, win, &made);
    if (code == MPI_SUCCESS) {
        *static_cast<void**>(baseptr) = made->base;
    }
    return code;
}

int free(MPI_Win* win) noexcept {
    Arguments args("MPI_Win_free", win != nullptr ? *win : MPI_WIN_NULL);
    if (checking() && !(args.pointer("win", win) && args.window())) {
        return args.code();
    }
    const MPI_Win freed = *win;
    // The error handler may be called after the window has gone.
    const auto held = Ref<Window>::share(&args.window_object());
    const int code = free_window(*held);
    if (code == MPI_SUCCESS) {
        note_freed(freed);
        *win = MPI_WIN_NULL;
    }
    return args.result(code);
}

bool check_dynamic(Arguments& args) noexcept {
    return args.window() &&
        (args.window_object().flavor == MPI_WIN_FLAVOR_DYNAMIC ||
            args.refuse(MPI_ERR_RMA_FLAVOR, "the window has not been created by MPI_Win_create_dynamic"));
}

int attach_memory(MPI_Win win, void* base, MPI_Aint size) noexcept {
    Arguments args("MPI_Win_attach", win);
    if (checking() &&
        !(check_dynamic(args) && check_size(args, size) &&
            (base != nullptr || size == 0 || args.refuse(MPI_ERR_BASE, "base is a null pointer, but size is not 0")))) {
        return args.code();
    }
    return args.result(attach(args.window_object(), base, std::uint64_t(size)));
}

int detach_memory(MPI_Win win, const void* base) noexcept {
    Arguments args("MPI_Win_detach", win);
    if (checking() && !check_dynamic(args)) {
        return args.code();
    }
    return args.result(detach(args.window_object(), base));
}

template <class Unit>
int shared_query(
    const char* function, MPI_Win win, int rank, MPI_Aint* size, Unit* displacement_unit, void* baseptr) noexcept {
    Arguments args(function, win);
    if (checking() &&
        !(args.window() &&
            args.require(rank == MPI_PROC_NULL || (rank >= 0 && rank < args.window_object().size), MPI_ERR_RANK, "rank",
                rank, "must be that of a member of the window, or MPI_PROC_NULL") &&
            args.pointer("size", size) && args.pointer("disp_unit", displacement_unit) &&
            args.pointer("baseptr", baseptr) &&
            (args.window_object().flavor != MPI_WIN_FLAVOR_DYNAMIC ||
                args.refuse(MPI_ERR_RMA_FLAVOR, "a dynamic window has no memory of its own")))) {
        return args.code();
    }
    SharedMemory memory;
    const int code = shared_memory(args.window_object(), rank, &memory);
    if (code == MPI_SUCCESS) {
        *size = MPI_Aint(memory.bytes);
        *displacement_unit = Unit(memory.displacement_unit);
        *static_cast<void**>(baseptr) = memory.base;
    }
    return args.result(code);
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    return api::create("MPI_Win_create", {MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info}, comm, win);
}
int PMPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    return api::create("MPI_Win_create_c", {MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info}, comm, win);
}
int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    return api::create("MPI_Win_create_dynamic", {MPI_WIN_FLAVOR_DYNAMIC, MPI_BOTTOM, 0, 1, info}, comm, win);
}
int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
    return api::allocate(
        "MPI_Win_allocate", {MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, disp_unit, info}, comm, baseptr, win);
}
int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
    return api::allocate(
        "MPI_Win_allocate_c", {MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, disp_unit, info}, comm, baseptr, win);
}
int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
    return api::allocate(
        "MPI_Win_allocate_shared", {MPI_WIN_FLAVOR_SHARED, nullptr, size, disp_unit, info}, comm, baseptr, win);
}
int PMPI_Win_allocate_shared_c(
    MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
    return api::allocate(
        "MPI_Win_allocate_shared_c", {MPI_WIN_FLAVOR_SHARED, nullptr, size, disp_unit, info}, comm, baseptr, win);
}
int PMPI_Win_free(MPI_Win* win) {
    return api::free(win);
}

int PMPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
    return api::attach_memory(win, base, size);
}
int PMPI_Win_detach(MPI_Win win, const void* base) {
    return api::detach_memory(win, base);
}
int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* disp_unit, void* baseptr) {
    return api::shared_query("MPI_Win_shared_query", win, rank, size, disp_unit, baseptr);
}
int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit, void* baseptr) {
    return api::shared_query("MPI_Win_shared_query_c", win, rank, size, disp_unit, baseptr);
}

int PMPI_Win_get_group(MPI_Win win, MPI_Group* group) {
    api::Arguments args("MPI_Win_get_group", win);
    if (api::checking() && !(args.window() && args.pointer("group", group))) {
        return args.code();
    }
    return api::give_handle(args, args.window_object().comm->group, group);
}

int PMPI_Win_set_info(MPI_Win win, MPI_Info info) {
    api::Arguments args("MPI_Win_set_info", win);
    if (api::checking() && !(args.window() && args.info_or_null("info", info))) {
        return args.code();
    }
    if (const Info* object = to_object<Info>(info); object != nullptr) {
        return args.result(
            unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return set_window_hints(args.window_object(), *object); }));
    }
    return MPI_SUCCESS;
}

int PMPI_Win_get_info(MPI_Win win, MPI_Info* info_used) {
    api::Arguments args("MPI_Win_get_info", win);
    if (api::checking() && !(args.window() && args.pointer("info_used", info_used))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        *info_used = api::handle_of_new(args, window_hints(args.window_object()).detach());
        return MPI_SUCCESS;
    }));
}

// A longer name is truncated, as the standard allows (MPI-5.0, 7.8).
int PMPI_Win_set_name(MPI_Win win, const char* win_name) {
    api::Arguments args("MPI_Win_set_name", win);
    if (api::checking() && !(args.window() && args.pointer("win_name", win_name))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        std::lock_guard lock(args.window_object().mutex);
        args.window_object().name.assign(win_name, strnlen(win_name, MPI_MAX_OBJECT_NAME - 1));
        return MPI_SUCCESS;
    }));
}

int PMPI_Win_get_name(MPI_Win win, char* win_name, int* resultlen) {
    api::Arguments args("MPI_Win_get_name", win);
    if (api::checking() &&
        !((win == MPI_WIN_NULL || args.window()) && args.pointer("win_name", win_name) &&
            args.pointer("resultlen", resultlen))) {
        return args.code();
    }
    const auto give = [&](std::string_view name) {
        std::memcpy(win_name, name.data(), name.size());
        win_name[name.size()] = '\0';
        *resultlen = int(name.size());
    };
    if (win == MPI_WIN_NULL) { // a valid argument here (MPI-5.0, 7.8)
        give("MPI_WIN_NULL");
        return MPI_SUCCESS;
    }
    std::lock_guard lock(args.window_object().mutex);
    give(args.window_object().name);
    return MPI_SUCCESS;
}
