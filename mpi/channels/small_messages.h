// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/continuation.h"
#include "object/communicator.h"
#include "object/request.h"

#include <cstddef>

namespace patchbay {

// Runs a member function of T when requests are complete (Continuation), or when it is posted.
template <class T, void (T::*Function)() noexcept>
struct Following : Continuation {
    Following(Progress& waits, T& of) noexcept
        : Continuation(waits, [](ReadyItem& item) noexcept { (static_cast<Following&>(item).owner.*Function)(); }),
          owner(of) {}

    // Has it run when the requests are complete: never before this returns on this thread. nullptr: none.
    void follow(Request* one, Request* other) noexcept {
        if (!attach_to(one, other)) {
            post();
        }
    }
    // false: they are complete already, and nothing will run.
    bool attach_to(Request* one, Request* other) noexcept {
        open();
        for (Request* request : {one, other}) {
            if (request != nullptr) {
                request->attach(*this);
            }
        }
        return !close();
    }

    T& owner;
};

// Messages of the library over the pml of a communicator. The memory belongs to the message until it is complete. MPI
// code; after an error *request is null.
int send_bytes(const void* data, std::size_t bytes, int dest, int tag, Communicator& comm, Request** request) noexcept;
int receive_bytes(void* data, std::size_t bytes, int source, int tag, Communicator& comm, Request** request) noexcept;
// Releases a request that is complete, if there is one.
void drop(Request*& request) noexcept;
// The error of a complete request; MPI_SUCCESS: none, or no request.
int error_of(const Request* request) noexcept;

} // namespace patchbay
