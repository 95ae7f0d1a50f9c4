// SPDX-License-Identifier: BSD-3-Clause
// The functions that read and set the fields of a status (MPI-5.0, 3.2.5 and 13.3).
#include "object/status.h"

#include "mpi/api/args.h"

#include <limits>
#include <new>

namespace patchbay::api {

namespace {

// The result of MPI_Get_count and similar functions: MPI_UNDEFINED if the count is not an integer or does not fit.
template <class Count>
Count whole_elements(std::uint64_t bytes, std::uint64_t element_size) noexcept {
    if (element_size == 0) {
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    }
    const std::uint64_t elements = bytes / element_size;
    if (bytes % element_size != 0 || elements > static_cast<std::uint64_t>(std::numeric_limits<Count>::max())) {
        return MPI_UNDEFINED;
    }
    return static_cast<Count>(elements);
}

template <class Count>
int get_count(const char* function, const MPI_Status* status, MPI_Datatype datatype, Count* count) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.pointer("status", status) && args.type("datatype", datatype) && args.pointer("count", count))) {
        return args.code();
    }
    *count = whole_elements<Count>(status_bytes(*status), std::uint64_t(to_object<Datatype>(datatype)->size));
    return MPI_SUCCESS;
}

int set_elements(const char* function, MPI_Status* status, MPI_Datatype datatype, MPI_Count count) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.pointer("status", status) && args.type("datatype", datatype) && args.count("count", count))) {
        return args.code();
    }
    // The count is a number of values of basic types, so that MPI_Get_elements returns it (MPI-5.0, 13.3).
    try {
        const auto bytes = to_object<Datatype>(datatype)->bytes_of_elements(count);
        if (!bytes) {
            return args.result(MPI_ERR_VALUE_TOO_LARGE);
        }
        set_status_bytes(*status, std::uint64_t(*bytes));
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

int get_field(
    const char* function, const MPI_Status* status, const char* name, int* value, int MPI_Status::*field) noexcept {
    Arguments args(function);
    if (checking() && !(args.pointer("status", status) && args.pointer(name, value))) {
        return args.code();
    }
    *value = status->*field;
    return MPI_SUCCESS;
}

int set_field(const char* function, MPI_Status* status, int value, int MPI_Status::*field) noexcept {
    Arguments args(function);
    if (checking() && !args.pointer("status", status)) {
        return args.code();
    }
    status->*field = value;
    return MPI_SUCCESS;
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Status_get_source(const MPI_Status* status, int* source) {
    return api::get_field("MPI_Status_get_source", status, "source", source, &MPI_Status::MPI_SOURCE);
}

int PMPI_Status_get_tag(const MPI_Status* status, int* tag) {
    return api::get_field("MPI_Status_get_tag", status, "tag", tag, &MPI_Status::MPI_TAG);
}

int PMPI_Status_get_error(const MPI_Status* status, int* error) {
    return api::get_field("MPI_Status_get_error", status, "error", error, &MPI_Status::MPI_ERROR);
}

int PMPI_Status_set_source(MPI_Status* status, int source) {
    return api::set_field("MPI_Status_set_source", status, source, &MPI_Status::MPI_SOURCE);
}

int PMPI_Status_set_tag(MPI_Status* status, int tag) {
    return api::set_field("MPI_Status_set_tag", status, tag, &MPI_Status::MPI_TAG);
}

int PMPI_Status_set_error(MPI_Status* status, int error) {
    return api::set_field("MPI_Status_set_error", status, error, &MPI_Status::MPI_ERROR);
}

int PMPI_Status_set_cancelled(MPI_Status* status, int flag) {
    api::Arguments args("MPI_Status_set_cancelled");
    if (api::checking() && !args.pointer("status", status)) {
        return args.code();
    }
    set_status_cancelled(*status, flag != 0);
    return MPI_SUCCESS;
}

int PMPI_Test_cancelled(const MPI_Status* status, int* flag) {
    api::Arguments args("MPI_Test_cancelled");
    if (api::checking() && !(args.pointer("status", status) && args.pointer("flag", flag))) {
        return args.code();
    }
    *flag = status_cancelled(*status) ? 1 : 0;
    return MPI_SUCCESS;
}

int PMPI_Status_set_elements(MPI_Status* status, MPI_Datatype datatype, int count) {
    return api::set_elements("MPI_Status_set_elements", status, datatype, count);
}

int PMPI_Status_set_elements_c(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
    return api::set_elements("MPI_Status_set_elements_c", status, datatype, count);
}

int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
    return api::set_elements("MPI_Status_set_elements_x", status, datatype, count);
}

int PMPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count) {
    return api::get_count("MPI_Get_count", status, datatype, count);
}

int PMPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
    return api::get_count("MPI_Get_count_c", status, datatype, count);
}
