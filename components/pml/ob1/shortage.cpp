// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/shortage.h"

#include "core/runtime/runtime.h"
#include "include/mpi.h"

namespace patchbay::pml::ob1 {

void Shortage::end_job(std::string_view text) noexcept {
    _runtime.abort(MPI_ERR_NO_MEM, text);
}

} // namespace patchbay::pml::ob1
