// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "include/mpi.h"

#include <string>
#include <string_view>
#include <variant>

namespace [[gnu::visibility("default")]] patchbay {

// A data representation that the program has registered (MPI-5.0, 14.5.3). Files use it; the only one of
// MPI_Pack_external is "external32".
struct DataRepresentation {
    // By the type of its counts. nullptr (MPI_CONVERSION_FN_NULL): nothing has to be converted.
    using Conversion = std::variant<MPI_Datarep_conversion_function*, MPI_Datarep_conversion_function_c*>;

    Conversion read;
    Conversion write;
    MPI_Datarep_extent_function* extent;
    void* extra_state;
};

// It stays registered until the process ends, whatever is finalized meanwhile. false: there is one of that name, which
// the standard or the program has defined. Throws std::bad_alloc. Thread-safe.
bool add_data_representation(std::string_view name, const DataRepresentation& added);
// nullptr: the program has registered none of that name. Thread-safe.
const DataRepresentation* find_data_representation(std::string_view name) noexcept;

} // namespace patchbay
