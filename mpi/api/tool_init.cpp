// SPDX-License-Identifier: BSD-3-Clause
// MPI_T: initialization, finalization and enumerations (MPI-5.0, 15.3.4, 15.3.5).
#include "mpi/api/tool_args.h"

using namespace patchbay;
using api::mpi_t;

int PMPI_T_init_thread(int required, int* provided) {
    const bool known = required == MPI_THREAD_SINGLE || required == MPI_THREAD_FUNNELED ||
        required == MPI_THREAD_SERIALIZED || required == MPI_THREAD_MULTIPLE;
    if (!known || provided == nullptr) {
        return MPI_T_ERR_INVALID;
    }
    const int code = mpi_t().init(required);
    if (code == MPI_SUCCESS) {
        *provided = required; // every function is thread-safe
    }
    return code;
}

int PMPI_T_finalize() {
    return mpi_t().finalize();
}

int PMPI_T_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
    return mpi_t().use([&] {
        const tool::Enumeration* found = mpi_t().enumerations.find(enumtype);
        if (found == nullptr) {
            return MPI_T_ERR_INVALID_HANDLE;
        }
        api::put(num, found->items.size());
        api::put_text(found->name, name, name_len);
        return MPI_SUCCESS;
    });
}

int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int* value, char* name, int* name_len) {
    return mpi_t().use([&] {
        const tool::Enumeration* found = mpi_t().enumerations.find(enumtype);
        if (found == nullptr) {
            return MPI_T_ERR_INVALID_HANDLE;
        }
        if (!api::is_index(found->items, indx)) {
            return MPI_T_ERR_INVALID_INDEX; // MPI_T_ERR_INVALID_ITEM is deprecated
        }
        api::put(value, indx);
        api::put_text(found->items[std::size_t(indx)], name, name_len);
        return MPI_SUCCESS;
    });
}
