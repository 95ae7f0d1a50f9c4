// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/highest_code.h"

#include "frameworks/coll/coll.h"
#include "object/error_code.h"

namespace patchbay {

int highest_code(Communicator& comm, int code) noexcept {
    int highest = MPI_SUCCESS;
    const int failed = (*comm.coll)[coll::Function::allreduce].allreduce(
        &code, &highest, 1, *to_object<Datatype>(MPI_INT), *to_object<Op>(MPI_MAX), comm);
    return first_error(code, first_error(failed, highest));
}

} // namespace patchbay
