// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/tool/tool.h"

#include "core/component/repository.h"
#include "core/log.h"
#include "core/progress/progress.h"

namespace patchbay::tool {

int Tool::init(int required) noexcept {
    if (Events::in_callback()) {
        return MPI_T_ERR_NOT_ACCESSIBLE;
    }
    try {
        const std::lock_guard lock(_mutex);
        const int code = _users == 0 ? open_or_undo() : MPI_SUCCESS;
        _users += code == MPI_SUCCESS ? 1 : 0;
        if (required == MPI_THREAD_MULTIPLE) {
            _several_threads.store(true, std::memory_order_relaxed);
        }
        return code;
    } catch (const std::bad_alloc&) {
        return MPI_T_ERR_MEMORY;
    }
}

// Below MPI_THREAD_MULTIPLE no lock protects a module from a second thread. The calls of a program at
// MPI_THREAD_SERIALIZED do not show the thread of a tool, so that the level of the tool decides.
std::optional<ObservedInstance> Tool::lock_library() noexcept {
    if (Events::in_callback()) {
        return std::nullopt; // inside of an MPI call, which has looked
    }
    const bool several_threads = _several_threads.load(std::memory_order_relaxed);
    const ThreadId known = known_single_thread();
    if ((known == 0 || known == this_thread_id()) && !several_threads) {
        return std::nullopt;
    }
    std::optional<ObservedInstance> observed(std::in_place);
    if (Instance* instance = ObservedInstance::get()) {
        check_thread();
        if (several_threads && known_single_thread() == 0 && !instance->progress().threaded()) {
            instance->enable_locks("a tool requested MPI_THREAD_MULTIPLE");
        }
    }
    return observed;
}

int Tool::open_or_undo() {
    try {
        return open();
    } catch (const std::bad_alloc&) {
        close();
        return MPI_T_ERR_MEMORY;
    }
}

int Tool::open() {
    if (!_core) {
        auto lease = library().acquire_core();
        if (!lease) {
            log_error("MPI_T_init_thread: " + lease.error().text);
            return MPI_T_ERR_CANNOT_INIT;
        }
        _core = std::move(*lease);
    }
    Core& core = *library().core();
    // What is ill-typed has its default here, and is an error of MPI_Init.
    ProcessState unused;
    (void)Instance(core, unused, MPI_THREAD_SINGLE).define_params();
    (void)core.components.define_all_params(core.params);
    core.define_tool_tables();
    ToolSources::define_tables(core);
    control_variables.open(core, enumerations);
    performance_variables.open(core.tool, enumerations);
    events.open(core, enumerations);
    categories.open(control_variables, performance_variables, events);
    return MPI_SUCCESS;
}

int Tool::finalize() noexcept {
    if (Events::in_callback()) {
        return MPI_T_ERR_NOT_ACCESSIBLE;
    }
    const std::lock_guard lock(_mutex);
    if (_users == 0) {
        return MPI_T_ERR_NOT_INITIALIZED;
    }
    if (--_users == 0) {
        close();
    }
    return MPI_SUCCESS;
}

void Tool::close() noexcept {
    events.close();
    performance_variables.close();
    control_variables.close();
    categories.close();
    enumerations.clear();
    if (!_written) { // otherwise a later MPI_Init gets the values
        _core.release();
    }
}

Tool& tool() noexcept {
    static auto* const one = new Tool;
    return *one;
}

} // namespace patchbay::tool
