// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/library/world.h"

#include "core/base/out_of_memory.h"
#include "core/log.h"
#include "core/progress/waiter.h"
#include "core/runtime/runtime.h"
#include "frameworks/cid/index_table.h"
#include "frameworks/pml/pml.h"
#include "mpi/channels/channels.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/parent_reduction.h"
#include "mpi/communicators/thread_communicators.h"
#include "mpi/dynamic/spawn.h"
#include "mpi/library/info_env.h"
#include "mpi/library/session.h"
#include "mpi/windows/windows.h"
#include "object/error_cause.h"
#include "object/error_texts.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <string>

namespace patchbay {

namespace {

MPI_Errhandler initial_errhandler(const ParamRegistry& params) {
    const MPI_Errhandler by_choice[] = {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN};
    return by_choice[params.at("mpi_initial_errhandler").as_enum()];
}

// ": a receive from rank 1 with tag 5, and so on", or an example, if the pml names none.
std::string unfinished(const Communicator& comm) {
    std::array<pml::UnfinishedMessage, 8> messages;
    const std::size_t found = comm.pml->unfinished(comm, messages);
    std::string text = found == 0 ? ", such as a receive without a message" : ":";
    for (std::size_t i = 0; i < std::min(found, messages.size()); ++i) {
        const auto [is_send, peer, tag] = messages[i];
        text += fmt::format("{} a {} {}, {}", i == 0 ? "" : ";", is_send ? "send to" : "receive from",
            peer == MPI_ANY_SOURCE ? "MPI_ANY_SOURCE" : fmt::format("rank {}", peer),
            tag == MPI_ANY_TAG ? "MPI_ANY_TAG" : fmt::format("tag {}", tag));
    }
    return found <= messages.size() ? text : text + fmt::format("; and {} more", found - messages.size());
}

// An error of the program which no call can return any more: operations that have not ended although all processes have
// sent what is pending, and so never will, such as a receive without a message.
void report_pending(Instance& instance) {
    instance.communicators().for_each([](const Communicator& comm) {
        const bool of_world = comm.session == nullptr && comm.index != cid::IndexTable::bootstrap;
        if (const std::int32_t pending = of_world ? pending_operations(comm) : 0; pending > 0) {
            log_warn(fmt::format("MPI_Finalize: {} operation{} on {} {} pending and can never end{}; MPI_Cancel ends a "
                                 "receive",
                pending, pending == 1 ? "" : "s", comm.describe(), pending == 1 ? "is" : "are", unfinished(comm)));
        }
    });
}

// The entry of the handle in the table of predefined communicators.
Communicator*& entry_of(MPI_Comm handle) noexcept {
    return Predefined<Communicator>::table[reinterpret_cast<std::uintptr_t>(handle) -
        HandleTraits<Communicator>::first];
}

// While it exists the thread is known to be in finalize().
class Finalizing {
public:
    explicit Finalizing(std::atomic<std::thread::id>& thread) noexcept
        : _thread(thread) {
        _thread.store(std::this_thread::get_id());
    }
    ~Finalizing() { _thread.store({}); }
    Finalizing(const Finalizing&) = delete;
    Finalizing& operator=(const Finalizing&) = delete;

private:
    std::atomic<std::thread::id>& _thread;
};

} // namespace

World::~World() = default;

Status World::init(int required) {
    if (_finalizing.load() == std::this_thread::get_id()) {
        return Error{
            Errc::invalid, "MPI is being finalized: a deletion callback of MPI_COMM_SELF cannot start it again"};
    }
    std::lock_guard lock(_mutex);
    if (_state.load() != State::fresh) {
        return Error{Errc::invalid,
            finalized() ? "MPI has been finalized; only sessions can start it again" : "MPI is initialized already"};
    }
    auto session = open_session(_library, required, Errhandler::predefined(MPI_ERRORS_RETURN));
    if (!session) {
        return session.error();
    }
    _session = std::move(*session);
    _cleanup = std::make_unique<CleanupStack>(&instance().core().faults);
    if (Status started = unless_out_of_memory([&] { return start(*_cleanup); }); !started) {
        if (!_all_fail) {
            instance().runtime().abandon();
        }
        _cleanup.reset();
        close_session(*_session.detach());
        return started;
    }
    _main_thread = std::this_thread::get_id();
    _state.store(State::running, std::memory_order_release);
    print_explanation(instance().core());
    instance().runtime().report_ready();
    return {};
}

Status World::start(CleanupStack& cleanup) {
    if (Status settled = instance().choose_locking(); !settled) {
        return settled;
    }
    Status made = cleanup.step(
        "make the predefined communicators", [&] { return make_communicators(cleanup); }, nullptr);
    if (!made) {
        return made;
    }
    Status connected = cleanup.step(
        "connect to the parent job", [this] { return connect_to_parent(); }, [this] { _parent.store(nullptr); });
    if (!connected) {
        return connected;
    }
    Info& env = *to_object<Info>(MPI_INFO_ENV);
    return cleanup.step(
        "fill MPI_INFO_ENV",
        [&]() -> Status {
            fill_info_env(env, {});
            fill_info_env(env, instance().runtime(), thread_level());
            return {};
        },
        [&env] { env.clear(); });
}

Status World::make_communicators(CleanupStack& cleanup) {
    Instance& instance = this->instance();
    const ProcessId self = instance.self();
    const MPI_Errhandler errhandler = initial_errhandler(instance.core().params);
    const struct {
        const PredefinedCommunicator& what;
        Ref<Group> group;
        Communicator** kept;
    } all[] = {
        {predefined_world, Group::range({0, 0}, int(instance.runtime().size()), self), &_world},
        {predefined_self, Group::range(self, 1, self), &_self},
    };
    for (const auto& one : all) {
        if (const int code = make_predefined(instance, one.what, one.group, errhandler, one.kept);
            code != MPI_SUCCESS) {
            return Error{
                Errc::not_available, fmt::format("{} could not be made: {}", one.what.name, noted_cause(code))};
        }
        Communicator*& entry = entry_of(one.what.handle);
        entry = *one.kept;
        cleanup.push([&entry, kept = one.kept] {
            entry = nullptr;
            Ref<Communicator>::adopt(std::exchange(*kept, nullptr)).reset();
        });
    }
    return {};
}

// A job that MPI_Comm_spawn has started has an intercommunicator with its parents from the beginning.
Status World::connect_to_parent() {
    Communicator* parent = nullptr;
    std::string problem;
    const int code = patchbay::connect_to_parent(*_world, &parent, &problem);
    if (code != MPI_SUCCESS) {
        std::string_view cause = problem.empty() ? noted_cause(code) : std::string_view(problem);
        cause = cause.empty() ? predefined_error_text(code) : cause;
        _all_fail = true;
        return Error{Errc::not_available, "no connection to the job that has spawned this one: " + std::string(cause)};
    }
    if (parent != nullptr) {
        parent->name = "MPI_COMM_PARENT";
        _parent.store(parent, std::memory_order_release);
    }
    return {};
}

void World::forget(const Communicator* comm) noexcept {
    Communicator* parent = _parent.load(std::memory_order_relaxed);
    if (parent == comm) {
        _parent.compare_exchange_strong(parent, nullptr);
    }
}

// In a job that goes on without processes that have failed, a process that waits for one of them in a tree would not
// answer those behind it. The launcher answers all at once; an error means that a process has failed, and then no
// process waits.
int World::synchronize() {
    Runtime& runtime = instance().runtime();
    if (!runtime.has_survivors()) {
        return synchronize_finalize(*_world);
    }
    Result<FenceRequest> fence = runtime.fence_start({}, false);
    if (fence) {
        wait_until(instance().progress(), [&fence] { return fence->done(); });
    }
    return MPI_SUCCESS;
}

int World::finalize() {
    if (_finalizing.load() == std::this_thread::get_id()) {
        return note_cause(MPI_ERR_OTHER, "MPI is being finalized already, by the call whose deletion callback this is");
    }
    std::lock_guard lock(_mutex);
    const Finalizing mark(_finalizing);
    if (const int code = threads::check_inactive(instance(), nullptr); code != MPI_SUCCESS) {
        return code;
    }
    // The deletion callbacks on MPI_COMM_SELF run first, while MPI is still usable (MPI-5.0, 11.2.4).
    for (Communicator* comm : {_self, _world}) {
        const int code = comm->attributes.erase_all(AttributeOwner::communicator, to_handle(comm));
        if (code != MPI_SUCCESS) {
            return code;
        }
    }
    threads::abandon(instance(), nullptr);
    // Peers may still need this process to progress their messages. First this process does its part of what is
    // pending, then all processes synchronize, and then each one sends the pending messages of that synchronization.
    instance().communicators().for_each([](const Communicator& comm) {
        if (comm.session == nullptr) { // other threads may be using those of sessions
            Request::leave_all_to_polls(comm);
        }
    });
    instance().drain(nullptr);
    const int code = synchronize();
    instance().drain(nullptr);
    abandon_windows(instance(), nullptr);
    instance().channels().abandon(nullptr);
    // Releases what has ended, such as the cancelled receives of bindings. Another job may send all the time.
    constexpr int most_polls = 100;
    for (int polls = 0; polls < most_polls && instance().progress().poll() != 0; ++polls) {
    }
    report_pending(instance());
    if (code != MPI_SUCCESS) {
        instance().runtime().abandon(); // the others wait for this process
    }
    _state.store(State::finished, std::memory_order_release);
    _cleanup.reset();
    close_session(*_session.detach());
    return code;
}

} // namespace patchbay
