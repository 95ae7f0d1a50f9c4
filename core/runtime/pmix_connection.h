// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <cstdint>
#include <string>

namespace patchbay::pmix_connection {

// The process's one connection to its PMIx server. Callers take turns (leases see to that).
//
// libpmix 4.2.2 loses 157 kB in each round of PMIx_Init and PMIx_Finalize (its table of registered keys is never
// freed; tests/core_runtime:job_cycles_test watches ours). A program that comes back would lose that each time, so the
// first close() really ends the connection, and one that was opened again stays until the process exits;
// it is ended then, unless the process exits in the middle of using it.

struct Identity {
    std::string nspace;
    std::uint32_t rank;
};

// Errc::unsupported: a server is announced but does not respond. Errc::system: PMIx_Init failed otherwise.
Result<Identity> open();
void close() noexcept;
// While open: close() will leave the connection, too, until the process exits. For groups of PMIx's own: when a server
// of 4.2.2 sees a connection end, it takes the process for lost in every group that others have begun with it
// meanwhile, though it may only be between two uses.
void keep() noexcept;
// While open: the library cannot be initialized, or its finalization has failed. The next close() leaves the connection
// as one that is in use until end_abandoned(), or open(), is called: the launcher takes the exit of a process that has
// finalized for that of one whose work is done, and the others would wait for a process that exits with this error.
void abandon() noexcept;
// The program goes on without the library; nothing happens unless the connection has been abandoned.
void end_abandoned() noexcept;

} // namespace patchbay::pmix_connection
