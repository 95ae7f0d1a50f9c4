// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/threads/group.h"

namespace patchbay::coll::threads {

// A broadcast among the threads of one process, in steps of their group: the member that has the data copies it to its
// slot or its block, or the others copy what is longer from its buffer. That member alone decides which, so that a
// count that is too small elsewhere is an error and no wait for ever.

// Called by the member that has the data. It waits for the others only if they copy from its buffer. `code`: an error
// that they return, and no data; MPI_SUCCESS: none. Returns an MPI code.
int give(
    Place& place, int code, const void* buffer, MPI_Count count, const Datatype& type, Progress& progress) noexcept;
// Called by the others: waits for the data of the member at place `from`. Returns an MPI code.
int take(Place& place, int from, void* buffer, MPI_Count count, const Datatype& type, Progress& progress) noexcept;

} // namespace patchbay::coll::threads
