// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/windows/window_collectives.h"

#include "frameworks/coll/coll.h"
#include "object/datatype.h"
#include "object/error_cause.h"
#include "object/op.h"

namespace patchbay {

namespace {

coll::Module& module_of(Communicator& comm, coll::Function function) noexcept {
    return (*comm.coll)[function];
}

const Datatype& byte() noexcept {
    return *to_object<Datatype>(MPI_BYTE);
}

} // namespace

int code_of_all(Communicator& comm, int code) noexcept {
    bool any = false;
    return code_of_all(comm, code, any);
}

int code_of_all(Communicator& comm, int code, bool& any) noexcept {
    const int own[] = {code, any ? 1 : 0};
    int highest[] = {code, 0};
    const int sent = module_of(comm, coll::Function::allreduce)
                         .allreduce(own, highest, 2, *to_object<Datatype>(MPI_INT), *to_object<Op>(MPI_MAX), comm);
    if (sent != MPI_SUCCESS) {
        return sent;
    }
    any = highest[1] != 0;
    if (highest[0] != code && noted_cause(highest[0]).empty()) {
        note_cause(highest[0], "another member of the window's communicator has got this error");
    }
    return highest[0];
}

int barrier(Communicator& comm) noexcept {
    return module_of(comm, coll::Function::barrier).barrier(comm);
}

int gather_bytes(Communicator& comm, const void* own, void* all, std::size_t bytes) noexcept {
    return module_of(comm, coll::Function::allgather)
        .allgather(own, MPI_Count(bytes), byte(), all, MPI_Count(bytes), byte(), comm);
}

int broadcast_bytes(Communicator& comm, void* value, std::size_t bytes) noexcept {
    return module_of(comm, coll::Function::bcast).bcast(value, MPI_Count(bytes), byte(), 0, comm);
}

} // namespace patchbay
