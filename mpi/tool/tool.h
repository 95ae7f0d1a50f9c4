// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/instance/observed_instance.h"
#include "mpi/instance/single_thread.h"
#include "mpi/library/library.h"
#include "mpi/tool/categories.h"
#include "mpi/tool/control_variables.h"
#include "mpi/tool/enumeration.h"
#include "mpi/tool/events.h"
#include "mpi/tool/performance_variables.h"

#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>

namespace patchbay::tool {

// The tool information interface (MPI-5.0, chapter 15). It holds a lease on the core between MPI_T_init_thread and the
// last MPI_T_finalize, so that it does not depend on MPI_Init, and initializes no more of the library than that.
class Tool {
public:
    // Returns an MPI_T code. init() is called any number of times, finalize() as often.
    // `required`: MPI_THREAD_*, that of the tool. Inside a callback both return MPI_T_ERR_NOT_ACCESSIBLE.
    int init(int required) noexcept;
    int finalize() noexcept;

    // Calls `action`, which returns an MPI_T code, with the lock held; `action` raises no event and calls no function
    // of the program. Callbacks may call it too, because the thread that raises an event holds no lock.
    template <class Action>
    int use(const Action& action) noexcept {
        try {
            const std::lock_guard lock(_mutex);
            return _users == 0 ? MPI_T_ERR_NOT_INITIALIZED : action();
        } catch (const std::bad_alloc&) {
            return MPI_T_ERR_MEMORY;
        }
    }
    // The same for functions that look at modules. If this is another thread than that of MPI calls the modules lock
    // from now on, and no thread finalizes the library meanwhile.
    template <class Action>
    int use_modules(const Action& action) noexcept {
        const std::optional<ObservedInstance> observed = lock_library();
        return use(action);
    }

    // A control variable has been written: its value outlives the interface.
    void note_written(std::size_t control_variable) {
        _written = true;
        categories.update(control_variable);
    }

    Enumerations enumerations;
    ControlVariables control_variables;
    PerformanceVariables performance_variables;
    Events events;
    Categories categories;

private:
    int open_or_undo();
    int open();
    void close() noexcept;
    std::optional<ObservedInstance> lock_library() noexcept;

    std::mutex _mutex;
    int _users = 0;
    bool _written = false;
    std::atomic<bool> _several_threads{false}; // a tool has requested MPI_THREAD_MULTIPLE
    Lease _core;
};

// The one of this process. It is never destroyed.
Tool& tool() noexcept;

} // namespace patchbay::tool
