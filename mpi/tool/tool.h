// SPDX-License-Identifier: BSD-3-Clause
#pragma once
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
#include <type_traits>

namespace patchbay::tool {

// The tool information interface (MPI-5.0, chapter 15). It holds a lease on the core between MPI_T_init_thread and the
// last MPI_T_finalize, so that it does not depend on MPI_Init, and asks the library for no more than that.
class Tool {
public:
    // Returns an MPI_T code. init() is called any number of times, finalize() as often.
    // `required`: MPI_THREAD_*, that of the tool.
    int init(int required) noexcept;
    int finalize() noexcept;

    // Calls `action`, which returns an MPI_T code, with the lock held. It may not be called inside a callback
    // (MPI_T_ERR_NOT_ACCESSIBLE), unless the function is one of those that callbacks may call.
    template <class Action>
    int use(const Action& action, bool in_callbacks = false) noexcept {
        if (Events::in_callback() && !in_callbacks) {
            return MPI_T_ERR_NOT_ACCESSIBLE;
        }
        try {
            const std::lock_guard lock(_mutex);
            return _users == 0 ? MPI_T_ERR_NOT_INITIALIZED : action();
        } catch (const std::bad_alloc&) {
            return MPI_T_ERR_MEMORY;
        }
    }
    // The same for functions that look at modules, which have to lock if this is another thread than that of MPI calls.
    template <class Action>
    int use_modules(const Action& action) noexcept {
        lock_library();
        return use(action, true);
    }
    // Without the lock, for functions of Events that call functions of the program.
    bool initialized() const noexcept {
        const std::lock_guard lock(_mutex);
        return _users != 0;
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
    int open();
    void close() noexcept;
    void lock_library() noexcept;

    mutable std::mutex _mutex;
    int _users = 0;
    bool _written = false;
    std::atomic<bool> _several_threads{false}; // a tool has requested MPI_THREAD_MULTIPLE
    Lease _core;
};

// The one of this process. It is never destroyed.
Tool& tool() noexcept;

} // namespace patchbay::tool
