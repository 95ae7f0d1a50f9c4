// SPDX-License-Identifier: BSD-3-Clause
// User-defined data representations (MPI-5.0, 14.5.3).
#include "object/data_representation.h"
#include "mpi/api/args.h"

#include <cstring>
#include <fmt/core.h>
#include <new>

namespace patchbay::api {

namespace {

template <class Conversion>
int register_datarep(const char* function, const char* name, Conversion* read, Conversion* write,
    MPI_Datarep_extent_function* extent, void* extra_state) noexcept {
    Arguments args(function, ErrorTarget::file()); // as all functions of files without a file handle
    if (checking() &&
        !(args.pointer("datarep", name) &&
            args.require(strnlen(name, MPI_MAX_DATAREP_STRING) < MPI_MAX_DATAREP_STRING, MPI_ERR_ARG,
                "the length of datarep", MPI_MAX_DATAREP_STRING, "must be less than MPI_MAX_DATAREP_STRING") &&
            args.pointer("dtype_file_extent_fn", reinterpret_cast<const void*>(extent)))) {
        return args.code();
    }
    try {
        return add_data_representation(name, {read, write, extent, extra_state})
            ? MPI_SUCCESS
            : args.fail(MPI_ERR_DUP_DATAREP, fmt::format("datarep is \"{}\", which is defined already", name));
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion_fn,
    MPI_Datarep_conversion_function* write_conversion_fn, MPI_Datarep_extent_function* dtype_file_extent_fn,
    void* extra_state) {
    return api::register_datarep(
        "MPI_Register_datarep", datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state);
}
int PMPI_Register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read_conversion_fn,
    MPI_Datarep_conversion_function_c* write_conversion_fn, MPI_Datarep_extent_function* dtype_file_extent_fn,
    void* extra_state) {
    return api::register_datarep(
        "MPI_Register_datarep_c", datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state);
}
