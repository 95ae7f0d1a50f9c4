// SPDX-License-Identifier: BSD-3-Clause
// MPI_T: performance variables (MPI-5.0, 15.3.7).
#include "mpi/api/tool_args.h"
#include "mpi/tool/constants.h"

using namespace patchbay;
using api::mpi_t;

namespace patchbay::api {

namespace {

using Variables = tool::PerformanceVariables;

// Calls `action` with the session behind the handle.
template <class Action>
int with_session(MPI_T_pvar_session handle, const Action& action) noexcept {
    return mpi_t().use_modules([&] {
        tool::PerformanceSession* session = mpi_t().performance_variables.find(handle);
        return session == nullptr ? MPI_T_ERR_INVALID_SESSION : action(*session);
    });
}

// The same with a handle of the session.
template <class Action>
int with_handle(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const Action& action) noexcept {
    return with_session(session, [&](const tool::PerformanceSession& of) {
        tool::PerformanceHandle* found = Variables::find(of, handle);
        return found == nullptr ? MPI_T_ERR_INVALID_HANDLE : action(*found);
    });
}

// The same for functions that take MPI_T_PVAR_ALL_HANDLES. Of all handles, those are left out to which the function
// does not apply; `failure` is the code when it fails for another one.
template <class Applies, class Action>
int with_handles(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const Applies& applies, int failure,
    const Action& action) noexcept {
    if (handle != MPI_T_PVAR_ALL_HANDLES) {
        return with_handle(session, handle, action);
    }
    return with_session(session, [&](const tool::PerformanceSession& of) {
        int result = MPI_SUCCESS;
        for (const auto& one : of.handles) {
            if (applies(*one->variable) && action(*one) != MPI_SUCCESS) {
                result = failure;
            }
        }
        return result;
    });
}

bool can_stop(const tool::PerformanceVariable& variable) noexcept {
    return !variable.continuous();
}

bool can_write(const tool::PerformanceVariable& variable) noexcept {
    return !variable.read_only();
}

} // namespace

} // namespace patchbay::api

int PMPI_T_pvar_get_num(int* num_pvar) {
    return mpi_t().use([&] { return api::put_size(mpi_t().performance_variables, num_pvar); });
}

int PMPI_T_pvar_get_index(const char* name, int var_class, int* pvar_index) {
    return mpi_t().use([&] { return api::put_index(mpi_t().performance_variables, name, pvar_index, var_class); });
}

int PMPI_T_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
    MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* readonly, int* continuous,
    int* atomic) {
    return mpi_t().use([&] {
        const api::Variables& all = mpi_t().performance_variables;
        if (!api::is_index(all, pvar_index)) {
            return MPI_T_ERR_INVALID_INDEX;
        }
        const tool::PerformanceVariable& variable = all[std::size_t(pvar_index)];
        api::put_text(variable.what->name, name, name_len);
        api::put(verbosity, tool::verbosity_of(variable.what->level));
        api::put(var_class, variable.what->variable_class);
        api::put(datatype, variable.datatype);
        api::put(enumtype, variable.enumeration);
        api::put_text(variable.what->help, desc, desc_len);
        api::put(bind, variable.what->binding);
        api::put(readonly, variable.read_only());
        api::put(continuous, variable.continuous());
        api::put(atomic, !variable.read_only());
        return MPI_SUCCESS;
    });
}

int PMPI_T_pvar_session_create(MPI_T_pvar_session* session) {
    return mpi_t().use([&] {
        if (session == nullptr) {
            return MPI_T_ERR_INVALID;
        }
        *session = reinterpret_cast<MPI_T_pvar_session>(mpi_t().performance_variables.create_session());
        return MPI_SUCCESS;
    });
}

int PMPI_T_pvar_session_free(MPI_T_pvar_session* session) {
    if (session == nullptr) {
        return MPI_T_ERR_INVALID;
    }
    return api::with_session(*session, [&](tool::PerformanceSession& found) {
        mpi_t().performance_variables.free(&found);
        *session = MPI_T_PVAR_SESSION_NULL;
        return MPI_SUCCESS;
    });
}

int PMPI_T_pvar_handle_alloc(
    MPI_T_pvar_session session, int pvar_index, void* obj_handle, MPI_T_pvar_handle* handle, int* count) {
    if (handle == nullptr || count == nullptr) {
        return MPI_T_ERR_INVALID;
    }
    *handle = MPI_T_PVAR_HANDLE_NULL;
    *count = 0;
    return api::with_session(session, [&](tool::PerformanceSession& of) {
        api::Variables& all = mpi_t().performance_variables;
        if (!api::is_index(all, pvar_index)) {
            return MPI_T_ERR_INVALID_INDEX;
        }
        tool::PerformanceHandle* made = nullptr;
        const int code = all.allocate(of, std::size_t(pvar_index), obj_handle, &made);
        if (code == MPI_SUCCESS) {
            *handle = reinterpret_cast<MPI_T_pvar_handle>(made);
            *count = int(made->kept.size());
        }
        return code;
    });
}

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
    if (handle == nullptr) {
        return MPI_T_ERR_INVALID;
    }
    return api::with_handle(session, *handle, [&](tool::PerformanceHandle& found) {
        mpi_t().performance_variables.free(&found);
        *handle = MPI_T_PVAR_HANDLE_NULL;
        return MPI_SUCCESS;
    });
}

int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return api::with_handles(session, handle, api::can_stop, MPI_T_ERR_PVAR_NO_STARTSTOP,
        [](tool::PerformanceHandle& found) { return mpi_t().performance_variables.start(found); });
}

int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return api::with_handles(session, handle, api::can_stop, MPI_T_ERR_PVAR_NO_STARTSTOP,
        [](tool::PerformanceHandle& found) { return mpi_t().performance_variables.stop(found); });
}

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
    return api::with_handle(session, handle, [&](tool::PerformanceHandle& found) {
        return buf == nullptr ? MPI_T_ERR_INVALID : mpi_t().performance_variables.read(found, buf);
    });
}

int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf) {
    return api::with_handle(session, handle, [&](tool::PerformanceHandle& found) {
        return buf == nullptr ? MPI_T_ERR_INVALID : mpi_t().performance_variables.write(found, buf);
    });
}

int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    return api::with_handles(session, handle, api::can_write, MPI_T_ERR_PVAR_NO_WRITE,
        [](tool::PerformanceHandle& found) { return mpi_t().performance_variables.reset(found); });
}

int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
    return api::with_handle(session, handle, [&](tool::PerformanceHandle& found) {
        if (buf == nullptr) {
            return MPI_T_ERR_INVALID;
        }
        if (found.variable->read_only()) {
            return MPI_T_ERR_PVAR_NO_ATOMIC;
        }
        return mpi_t().performance_variables.read_and_reset(found, buf);
    });
}
