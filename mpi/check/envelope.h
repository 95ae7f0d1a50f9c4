// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/check/signature.h"
#include "object/error_cause.h"
#include "object/status.h"

namespace patchbay::check {

// A message with its signature before it, sent or received as one datatype with absolute addresses. It must not move
// while it is in use.
class Envelope {
public:
    Envelope() = default;
    Envelope(const Envelope&) = delete;
    Envelope& operator=(const Envelope&) = delete;

    // Has `count` elements at `buffer` stand behind the signature. Of a send: the signature is theirs. MPI code.
    int seal(const void* buffer, MPI_Count count, const Datatype& type) noexcept;
    int prepare(void* buffer, MPI_Count count, const Datatype& type) noexcept;

    // What is sent or received: one element at MPI_BOTTOM.
    const Datatype& type() const noexcept { return *_type; }
    // Of a message that has arrived: the signature of what was sent.
    const Signature& signature() const noexcept { return _signature; }

    // Takes the signature off the size of a message that has been received or found.
    static void shorten(MPI_Status& status) noexcept {
        const std::uint64_t bytes = status_bytes(status);
        set_status_bytes(status, bytes < sizeof(Signature) ? 0 : bytes - sizeof(Signature));
    }

    // The same for the noted cause of MPI_ERR_TRUNCATE.
    static bool shorten_cause() noexcept { return shorten_truncation(sizeof(Signature)); }

private:
    int enclose(const void* buffer, MPI_Count count, const Datatype& type);

    Signature _signature;
    Ref<Datatype> _type;
};

} // namespace patchbay::check
