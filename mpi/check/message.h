// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/call_site.h"
#include "frameworks/coll/call.h"
#include "frameworks/pml/pml.h"
#include "mpi/check/checks.h"
#include "mpi/check/memory_range.h"
#include "mpi/check/signature.h"
#include "object/communicator.h"

#include <optional>
#include <string>

namespace patchbay {

class Window;

namespace check {

// One send or receive of the program, in the words of the call; or one buffer of this process in a one-sided operation.
struct MessageCall {
    const char* function; // "MPI_Isend"
    void* buffer;         // of a send: only to be read
    MPI_Count count;
    const Datatype* type;
    int peer; // or MPI_ANY_SOURCE
    int tag;  // or MPI_ANY_TAG
    std::optional<pml::SendMode>
        mode; // of a send; none: a receive. The operation only reads the buffer if there is one
    Communicator* comm;
    const Window* window = nullptr; // of a one-sided operation, which has neither tag nor communicator
    int partition = -1;             // of partitioned communication
    bool collective = false;        // has neither peer nor tag

    bool sends() const noexcept { return mode.has_value(); }
    // Whether argument buf names the buffer.
    bool is_of_one_buffer() const noexcept { return window == nullptr && partition < 0 && !collective; }
    // "MPI_Isend to rank 1 with tag 5 on communicator MPI_COMM_WORLD at solver.c:12 in main".
    std::string text(const CallSite& site) const;
    MemoryRange range() const noexcept { return {buffer, count, type}; }
};

const char* name_of_send(pml::SendMode mode, coll::Form form) noexcept;

// Whether a message is the program's own: the messages of the library are not checked.
inline bool is_of_program(int tag, const Communicator& comm) noexcept {
    return (tag >= 0 || tag == MPI_ANY_TAG) && !comm.of_library;
}

// Compares what has arrived with what the receive expects; `status` has the size of the data. MPI_ERR_TYPE, noted and
// printed, if it was sent with another signature.
int compare_types(
    const MessageCall& receive, const CallSite& site, const Signature& sent, const MPI_Status& status) noexcept;

} // namespace check
} // namespace patchbay
