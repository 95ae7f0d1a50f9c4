// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>

namespace [[gnu::visibility("default")]] patchbay {
namespace api {

// The names of the functions of mpi.h and mpix.h that only report MPI_ERR_UNSUPPORTED_OPERATION in this build, in the
// order of the headers. The build generates the list from the definitions in mpi/api.
std::span<const char* const> unimplemented_functions() noexcept;

} // namespace api
} // namespace patchbay
