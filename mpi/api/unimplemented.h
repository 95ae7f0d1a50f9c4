// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>

namespace [[gnu::visibility("default")]] patchbay {
namespace api {

// Names of the functions of mpi.h and mpix.h that only answer MPI_ERR_UNSUPPORTED_OPERATION in this build, in the order
// of the headers. Made by the build from what the sources in mpi/api define.
std::span<const char* const> unimplemented_functions() noexcept;

} // namespace api
} // namespace patchbay
