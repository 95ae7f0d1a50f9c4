// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/waiter.h"
#include "frameworks/coll/coll.h"
#include "frameworks/pml/pml.h"

#include <span>

namespace patchbay::coll {

// What a collective needs of point-to-point: one communicator, one tag. Ranks equal to the caller's own are allowed.
// Every function returns an MPI code; blocking ones wait by the library's waiting policy.
class Transfer {
public:
    Transfer(Communicator& comm, int tag) noexcept
        : _comm(comm),
          _tag(tag) {}

    int send(const void* buffer, MPI_Count count, const Datatype& type, int dest) const noexcept {
        return _comm.pml->send(buffer, count, type, dest, _tag, pml::SendMode::standard, _comm);
    }
    int recv(void* buffer, MPI_Count count, const Datatype& type, int source) const noexcept {
        return _comm.pml->recv(buffer, count, type, source, _tag, _comm, nullptr);
    }
    int isend(const void* buffer, MPI_Count count, const Datatype& type, int dest, Request** request) const noexcept {
        return _comm.pml->isend(buffer, count, type, dest, _tag, pml::SendMode::standard, _comm, request);
    }
    int irecv(void* buffer, MPI_Count count, const Datatype& type, int source, Request** request) const noexcept {
        return _comm.pml->irecv(buffer, count, type, source, _tag, _comm, request);
    }

    // Send to one and receive from another at once.
    int exchange(const void* send_buffer, MPI_Count send_count, const Datatype& send_type, int dest, void* recv_buffer,
        MPI_Count recv_count, const Datatype& recv_type, int source) const noexcept {
        Request* incoming = nullptr;
        int code = irecv(recv_buffer, recv_count, recv_type, source, &incoming);
        if (code != MPI_SUCCESS) {
            return code;
        }
        const int sent = send(send_buffer, send_count, send_type, dest);
        if (sent != MPI_SUCCESS) {
            incoming->cancel(); // the other processes may have failed in the same way and send nothing
        }
        code = wait(incoming);
        return sent != MPI_SUCCESS ? sent : code;
    }

    // Waits for the request and gives it back.
    int wait(Request* request) const noexcept {
        wait_until(*request->progress, [request] { return request->is_complete(); });
        const int code = request->error;
        request->recycle();
        return code;
    }
    // Waits for all, null entries skipped; the first error found.
    int wait_all(std::span<Request* const> requests) const noexcept {
        int result = MPI_SUCCESS;
        for (Request* request : requests) {
            const int code = request == nullptr ? MPI_SUCCESS : wait(request);
            result = result == MPI_SUCCESS ? code : result;
        }
        return result;
    }

private:
    Communicator& _comm;
    int _tag;
};

} // namespace patchbay::coll
