// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/window.h"

#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;

// Construction and destruction of windows (MPI-5.0, 12.2). Every function returns an MPI code, and stores the cause of
// an error that it detects itself (object/error_cause.h).

// What a member passes to a constructor.
struct NewWindow {
    int flavor = MPI_WIN_FLAVOR_CREATE; // MPI_WIN_FLAVOR_*
    void* base = nullptr;               // of MPI_Win_create
    std::uint64_t bytes = 0;
    std::uint32_t displacement_unit = 1;
    const Info* info = nullptr; // may be null
};

// MPI_Win_create, MPI_Win_allocate, MPI_Win_allocate_shared, MPI_Win_create_dynamic. `parent` is an intracommunicator,
// all of whose members call this in the same order; either all of them get a window, or all get an error. A member that
// has an error already passes it as `refused`. Blocks.
int construct(Communicator& parent, const NewWindow& what, int refused, Window** made) noexcept;

// MPI_Win_free. Collective: either all members free the window, or all get an error, as when an epoch is open in one of
// them (MPI_ERR_RMA_SYNC) or a deletion callback of an attribute fails. Blocks.
int free_window(Window& window) noexcept;

// Destroy the windows that the program has not freed, in this process only: those of a session (nullptr: of the world
// model), and all.
void abandon_windows(Instance& instance, const Session* session) noexcept;
void destroy_windows(Instance& instance) noexcept;

// MPI_Win_attach and MPI_Win_detach. Local.
int attach(Window& window, void* base, std::uint64_t bytes) noexcept;
int detach(Window& window, const void* base) noexcept;

// Where this process can load from and store to the memory of a member, for MPI_Win_shared_query. With MPI_PROC_NULL
// the memory of the lowest rank that has any. A base of nullptr and 0 bytes: the memory is not shared, or there is
// none. Local.
struct SharedMemory {
    void* base = nullptr;
    std::uint64_t bytes = 0;
    std::uint32_t displacement_unit = 1;
};
int shared_memory(Window& window, int rank, SharedMemory* result) noexcept;

} // namespace patchbay
