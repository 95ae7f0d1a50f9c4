// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/tool_sources.h"

#include "core/base/strings.h"
#include "core/component/repository.h"
#include "core/progress/progress.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/observed_instance.h"
#include "object/session.h"

#include <algorithm>
#include <iterator>

namespace patchbay {

namespace {

using Value = std::optional<std::uint64_t>;

constexpr VariableSpec wait_variables[] = {
    {"asleep", VariableClass::timer, "nanoseconds that waits of this process have slept"},
    {"sleeps", VariableClass::counter, "how often waits of this process have slept"},
};

Value read_wait(Instance& instance, std::size_t variable, const void*, std::size_t) {
    return variable == 0 ? instance.progress().asleep_ns() : instance.progress().sleeps();
}

constexpr VariableSpec cid_variables[] = {
    {"communicators", VariableClass::counter, "communicators constructed, without the predefined ones"},
    {"rounds", VariableClass::counter, "reductions over the members of a communicator for its CID"},
    {"pgcids", VariableClass::counter, "PGCIDs taken from their source"},
    {"derived", VariableClass::counter, "communicators with an exCID that was derived from another one"},
    {"extended_headers", VariableClass::counter, "messages sent with the exCID header"},
    {"acknowledgements", VariableClass::counter, "indices of communicators received in a CID acknowledgement"},
};

Value read_cid(Instance& instance, std::size_t variable, const void*, std::size_t) {
    const cid::Counters& counters = instance.cid_counters();
    const cid::Counter* const by_row[] = {&counters.communicators, &counters.rounds, &counters.pgcids,
        &counters.children, &counters.extended_headers, &counters.acknowledgements};
    return by_row[variable]->value();
}

constexpr VariableSpec mpi_variables[] = {
    {"communicators", VariableClass::level, "communicators of this process, the predefined and internal ones included"},
    {"users", VariableClass::level, "open sessions, and the world model between MPI_Init and MPI_Finalize"},
};

Value read_mpi(Instance& instance, std::size_t variable, const void*, std::size_t) {
    return variable == 0 ? std::uint64_t(instance.communicators().live()) : std::uint64_t(instance.user_count());
}

constexpr EventElement failed_elements[] = {
    {"rank", EventElement::Type::integer},
    {"job", EventElement::Type::integer},
};

constexpr EventSpec mpi_events[] = {
    {"peer_failed",
        "the launcher has reported that a process has failed, in a job that goes on without it, or has ended after "
        "such "
        "a failure: rank (in its job), job (0: the own one)",
        failed_elements, std::size(failed_elements)},
};

constexpr VariableSpec session_variables[] = {
    {"communicators", VariableClass::level, "communicators of the session that the program has not freed",
        Counting::always, Binding::session},
    {"thread_level", VariableClass::state, "thread level of the session", Counting::always, Binding::session,
        "MPI_THREAD_SINGLE,MPI_THREAD_FUNNELED,MPI_THREAD_SERIALIZED,MPI_THREAD_MULTIPLE"},
};

Value read_session(Instance&, std::size_t variable, const void* object, std::size_t) {
    const Session& session = *static_cast<const Session*>(object);
    if (variable == 1) {
        constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
        return std::uint64_t(std::find(std::begin(levels), std::end(levels), session.thread_level) - levels);
    }
    const std::lock_guard lock(session.mutex);
    std::uint64_t communicators = 0;
    for (const Communicator* comm = session.communicators; comm != nullptr; comm = comm->next_of_session) {
        communicators += comm->freed || comm->is_local_side ? 0 : 1;
    }
    return communicators;
}

// The states of coll_component: "none", then the installed components.
VariableSpec coll_variable(const char* states) noexcept {
    return {"component", VariableClass::state,
        "component that serves each function on the communicator, in its blocking form; element: barrier, bcast, "
        "gather, gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv, alltoallw, reduce, allreduce, "
        "reduce_scatter, reduce_scatter_block, scan, exscan, and the five of neighbours",
        Counting::always, Binding::communicator, states, coll::function_count};
}

Value read_coll(Instance& instance, std::size_t, const void* object, std::size_t element) {
    const auto* comm = static_cast<const Communicator*>(object);
    const std::string_view name = comm->coll == nullptr
        ? std::string_view()
        : comm->coll->component_of(coll::Function(element), coll::Form::blocking);
    std::uint64_t number = 0;
    for (const Repository::Installed& installed : instance.core().components.installed()) {
        number += installed.framework == "coll" ? 1 : 0;
        if (installed.framework == "coll" && installed.name == name) {
            return number;
        }
    }
    return 0;
}

template <std::size_t N>
ToolTables only_variables(const VariableSpec (&variables)[N]) {
    return ToolTables(variables);
}

} // namespace

class ToolSources::Source final : public ToolSource {
public:
    using Read = Value (*)(Instance&, std::size_t variable, const void* object, std::size_t element);
    Source(Instance& instance, const char* group, Read read, std::span<EventPoint> points = {})
        : ToolSource(group, ""),
          _instance(instance),
          _read(read),
          _points(points) {
        _instance.core().tool.add(*this);
    }
    ~Source() override { _instance.core().tool.remove(*this); }
    Value read(std::size_t variable, const void* object, std::size_t element) noexcept override {
        return _read(_instance, variable, object, element);
    }
    std::span<EventPoint> events() noexcept override { return _points; }

private:
    Instance& _instance;
    const Read _read;
    const std::span<EventPoint> _points;
};

namespace {

std::mutex observed_mutex;
std::atomic<Instance*> observed{nullptr}; // changed with the mutex held

} // namespace

std::mutex& bound_objects_mutex() noexcept {
    static auto& mutex = *new std::mutex; // a program may free communicators in its static destructors
    return mutex;
}

ObservedInstance::ObservedInstance() noexcept
    : _lock(observed_mutex) {}

Instance* ObservedInstance::get() noexcept {
    return observed.load(std::memory_order_acquire);
}

ToolSources::ToolSources(Instance& instance)
    : _sources{std::make_unique<Source>(instance, "wait", &read_wait),
          std::make_unique<Source>(instance, "cid", &read_cid),
          std::make_unique<Source>(instance, "mpi", &read_mpi, std::span(&_peer_failed, 1)),
          std::make_unique<Source>(instance, "session", &read_session),
          std::make_unique<Source>(instance, "coll", &read_coll)},
      _instance(instance) {
    const std::lock_guard lock(observed_mutex);
    observed.store(&instance, std::memory_order_release);
}

ToolSources::~ToolSources() {
    const std::lock_guard lock(observed_mutex);
    if (ObservedInstance::get() == &_instance) {
        observed.store(nullptr, std::memory_order_release);
    }
}

void ToolSources::define_tables(Core& core) {
    core.tool.define("wait", "", only_variables(wait_variables));
    core.tool.define("cid", "", only_variables(cid_variables));
    core.tool.define("mpi", "", ToolTables(mpi_variables, mpi_events));
    core.tool.define("session", "", only_variables(session_variables));
    std::vector<std::string> states = core.components.components("coll");
    states.insert(states.begin(), "none");
    const std::string text = join(states, ",");
    const VariableSpec coll_variables[] = {coll_variable(text.c_str())};
    core.tool.define("coll", "", only_variables(coll_variables));
}

} // namespace patchbay
