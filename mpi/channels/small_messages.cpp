// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/small_messages.h"

#include "frameworks/pml/pml.h"
#include "object/datatype.h"

#include <utility>

namespace patchbay {

int send_bytes(const void* data, std::size_t bytes, int dest, int tag, Communicator& comm, Request** request) noexcept {
    *request = nullptr;
    return comm.pml->isend(
        data, MPI_Count(bytes), *to_object<Datatype>(MPI_BYTE), dest, tag, pml::SendMode::standard, comm, request);
}

int receive_bytes(void* data, std::size_t bytes, int source, int tag, Communicator& comm, Request** request) noexcept {
    *request = nullptr;
    return comm.pml->irecv(data, MPI_Count(bytes), *to_object<Datatype>(MPI_BYTE), source, tag, comm, request);
}

void drop(Request*& request) noexcept {
    if (Request* const done = std::exchange(request, nullptr)) {
        done->recycle_complete();
    }
}

int error_of(const Request* request) noexcept {
    return request != nullptr ? request->error : MPI_SUCCESS;
}

} // namespace patchbay
