// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/api/abort.h"

#include "core/runtime/runtime.h"
#include "mpi/instance/instance.h"

#include <cstdlib>

namespace patchbay::api {

void end_job(Instance* instance, int code) noexcept {
    if (instance != nullptr && instance->core().runtime != nullptr) {
        instance->core().runtime->abort(code, {});
    }
    // The launcher terminates the other processes when a process fails before MPI_Init or after MPI_Finalize.
    end_process(code);
}

void end_process(int code) noexcept {
    // An exit status, which has eight bits, of zero would be taken for success.
    std::_Exit((code & 0xff) != 0 ? code : EXIT_FAILURE);
}

} // namespace patchbay::api
