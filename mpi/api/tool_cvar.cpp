// SPDX-License-Identifier: BSD-3-Clause
// MPI_T: control variables (MPI-5.0, 15.3.6).
#include "mpi/api/tool_args.h"
#include "mpi/tool/constants.h"

using namespace patchbay;
using api::mpi_t;

int PMPI_T_cvar_get_num(int* num_cvar) {
    return mpi_t().use([&] { return api::put_size(mpi_t().control_variables, num_cvar); });
}

int PMPI_T_cvar_get_index(const char* name, int* cvar_index) {
    return mpi_t().use([&] { return api::put_index(mpi_t().control_variables, name, cvar_index); });
}

int PMPI_T_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
    MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
    return mpi_t().use([&] {
        tool::ControlVariables& all = mpi_t().control_variables;
        if (!api::is_index(all, cvar_index)) {
            return MPI_T_ERR_INVALID_INDEX;
        }
        const tool::ControlVariable& variable = all[std::size_t(cvar_index)];
        api::put_text(variable.param->name(), name, name_len);
        api::put(verbosity, tool::verbosity_of(variable.param->level()));
        api::put(datatype, variable.datatype);
        api::put(enumtype, variable.enumeration);
        api::put_text(variable.description, desc, desc_len);
        api::put(bind, MPI_T_BIND_NO_OBJECT);
        if (scope != nullptr) { // what is not returned need not stay as it is
            *scope = all.scope(std::size_t(cvar_index));
        }
        return MPI_SUCCESS;
    });
}

int PMPI_T_cvar_handle_alloc(int cvar_index, void*, MPI_T_cvar_handle* handle, int* count) {
    if (handle == nullptr || count == nullptr) {
        return MPI_T_ERR_INVALID;
    }
    *handle = MPI_T_CVAR_HANDLE_NULL;
    *count = 0;
    return mpi_t().use([&] {
        tool::ControlVariables& all = mpi_t().control_variables;
        if (!api::is_index(all, cvar_index)) {
            return MPI_T_ERR_INVALID_INDEX;
        }
        tool::ControlHandle* made = all.allocate(std::size_t(cvar_index));
        *handle = reinterpret_cast<MPI_T_cvar_handle>(made);
        *count = made->count;
        return MPI_SUCCESS;
    });
}

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle* handle) {
    return mpi_t().use([&] {
        tool::ControlHandle* found = handle == nullptr ? nullptr : mpi_t().control_variables.find(*handle);
        if (found == nullptr) {
            return MPI_T_ERR_INVALID_HANDLE;
        }
        mpi_t().control_variables.free(found);
        *handle = MPI_T_CVAR_HANDLE_NULL;
        return MPI_SUCCESS;
    });
}

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void* buf) {
    return mpi_t().use([&] {
        const tool::ControlHandle* found = mpi_t().control_variables.find(handle);
        if (found == nullptr || buf == nullptr) {
            return found == nullptr ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID;
        }
        mpi_t().control_variables.read(*found, buf);
        return MPI_SUCCESS;
    });
}

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void* buf) {
    return mpi_t().use([&] {
        const tool::ControlHandle* found = mpi_t().control_variables.find(handle);
        if (found == nullptr || buf == nullptr) {
            return found == nullptr ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID;
        }
        const int code = mpi_t().control_variables.write(*found, buf);
        if (code == MPI_SUCCESS) {
            mpi_t().note_written(found->index);
        }
        return code;
    });
}
