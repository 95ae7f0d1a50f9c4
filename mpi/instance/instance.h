// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/framework.h"
#include "core/core.h"
#include "frameworks/btl/transports.h"
#include "frameworks/chan/bound_channels.h"
#include "frameworks/chan/selector.h"
#include "frameworks/cid/cid.h"
#include "frameworks/cid/counters.h"
#include "frameworks/cid/directory.h"
#include "frameworks/cid/index_table.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/engine.h"
#include "frameworks/coll/selector.h"
#include "frameworks/context.h"
#include "frameworks/osc/selector.h"
#include "frameworks/pml/pml.h"
#include "frameworks/pset/pset.h"
#include "mpi/instance/predefined_attributes.h"
#include "mpi/instance/process_state.h"
#include "mpi/instance/single_thread.h"
#include "mpi/instance/tool_sources.h"
#include "mpi/instance/wrong_calls.h"
#include "object/buffer_attach_point.h"
#include "object/session_id.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Channels;
class ConstructionQueue;
class HwResources;
class BootstrapExchange;
class PeerFailures;
namespace pml {
class PartitionedEngine;
}
namespace threads {
class Registry;
}
namespace pset {
class Sets;
}

// A user of the library: the world model or a session. It holds a lease on the instance. At MPI_THREAD_FUNNELED and
// below, the program guarantees that only the thread that opened the user makes MPI calls on its behalf.
struct User {
    int thread_level = MPI_THREAD_SINGLE; // that the program requested
    ThreadId thread = 0;                  // that opened this user

    bool operator==(const User&) const = default;
    bool uses_one_thread() const noexcept { return thread_level <= MPI_THREAD_FUNNELED; }
};

// The initialized library in this process: the core, the frameworks in use and the selected modules. The instance
// exists while a user holds a lease on it (mpi/library/library.h): the world model holds one from MPI_Init to
// MPI_Finalize, and each session holds one. When the last lease is released, every initialization step is undone in
// reverse order, and no thread, mapping or descriptor of the library is left in the process.
class Instance final : public Context {
public:
    Instance(Core& core, ProcessState& process_state, int thread_level); // that the first user requests
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    // What a component may use (frameworks/context.h).
    Core& core() noexcept override { return _core; }
    Runtime& runtime() noexcept override { return *_core.runtime; }
    Progress& progress() noexcept override { return *_core.progress; }
    ProcessId self() const noexcept override { return _self; }
    // 24 bits are the rank, 39 bits a counter. The nonce of the job is added bit by bit, so that it is as unlikely as
    // with random numbers that a process of another job has the same one.
    static constexpr std::uint64_t most_numbers = ~std::uint64_t(0) >> 1;
    std::uint64_t unique_number() noexcept override {
        return (std::uint64_t(_self.rank) << 39 | _process_state.next_number()) ^ _number_mask;
    }
    std::string operation_name(const Group& members, std::string_view text) override;
    Result<btl::Transports*> transports() override;
    HwResources& hw_resources() noexcept override { return *_hw_resources; }
    cid::IndexTable& communicators() noexcept override { return *_communicators; }
    cid::Directory& directory() noexcept override { return *_directory; }
    cid::Counters& cid_counters() noexcept override { return _cid_counters; }
    // The tables of communicators, which lock while several threads use the library. drop_tables() comes before the end
    // of `threads`.
    void make_tables(ThreadLevelUpgrade& threads);
    void drop_tables() noexcept;

    // Tells those who communicate with the process, which has failed. Called by a poller.
    void peer_failed(ProcessId process) noexcept;
    // Gives back what this process has for jobs that have ended and of which it has no communicator. Called by a thread
    // that is in no poll, where another job comes into play. May block for the lock of the transports.
    void forget_ended_jobs();
    // Called when no module exists any more that uses them.
    void drop_transports() noexcept { _transports.reset(); }

    Framework<pml::Component>& pml_framework() noexcept { return _pml_framework; }
    Framework<btl::Component>& btl_framework() noexcept { return _btl_framework; }
    Framework<cid::Component>& cid_framework() noexcept { return _cid_framework; }
    Framework<coll::Component>& coll_framework() noexcept { return _coll_framework; }
    Framework<osc::Component>& osc_framework() noexcept { return _osc_framework; }
    Framework<chan::Component>& chan_framework() noexcept { return _chan_framework; }
    Framework<pset::Component>& pset_framework() noexcept { return _pset_framework; }
    // All frameworks, for operations that treat them alike.
    std::array<FrameworkBase*, 7> frameworks() noexcept {
        return {&_pml_framework, &_btl_framework, &_cid_framework, &_coll_framework, &_osc_framework, &_chan_framework,
            &_pset_framework};
    }
    // Defines the parameters of the library and of its frameworks in the core, and starts nothing. It is a step of the
    // initialization, and the only one that a tool needs which lists parameters.
    Status define_params();
    pml::Module& pml() noexcept { return *_pml; }
    // The process sets by name (frameworks/pset/sets.h). Their components are opened at the first look-up of a name.
    pset::Sets& psets() noexcept { return *_psets; }
    // Opens framework cid, unless it is open. Called before a component of it is selected; may block while another
    // thread opens it.
    Status open_cid(Capability needed);
    // The cid module of communicators whose info does not name a component; null until the first such communicator.
    cid::Module* cid_module() const noexcept { return _cid_module.load(std::memory_order_acquire); }
    void set_cid_module(cid::Module* cid_module) noexcept { _cid_module.store(cid_module, std::memory_order_release); }
    coll::Selector& coll_selector() noexcept { return _coll_selector; }
    // Opens framework osc, unless it is open. Called before the component of a window is selected; may block while
    // another thread opens it.
    Status open_osc();
    osc::Selector& osc_selector() noexcept { return _osc_selector; }
    // The same for framework chan, before the component of a channel is selected.
    Status open_chan();
    chan::Selector& chan_selector() noexcept { return _chan_selector; }
    chan::BoundChannels& bound_channels() noexcept { return _bound_channels; }
    // The channels that are being bound or unbound (mpi/channels/channels.h).
    Channels& channels() noexcept { return *_channels; }
    coll::Engine& coll_engine() noexcept { return _coll_engine; }
    // What partitioned requests share.
    pml::PartitionedEngine& partitioned() noexcept { return *_partitioned; }
    // Exchange of messages between processes that have no communicator in common.
    BootstrapExchange& bootstrap() noexcept { return *_bootstrap; }
    // The process-lifetime state, which outlives this instance.
    ProcessState& process_state() noexcept { return _process_state; }
    // The nonblocking communicator constructors under way.
    ConstructionQueue& constructions() noexcept { return *_constructions; }
    PredefinedAttributes& attributes() noexcept { return _attributes; }
    // The buffer that MPI_Buffer_attach attached (mpi/instance/send_buffer.h).
    BufferAttachPoint& send_buffer() noexcept { return _send_buffer; }
    // The highest thread level that a user (the world model, a session) can get, MPI_THREAD_SINGLE to
    // MPI_THREAD_MULTIPLE.
    int thread_level() const noexcept { return _thread_level; }
    // Decides before a user's first communication whether the library uses locks. It uses none as long as one thread at
    // a time calls it for certain: when there is a single user below MPI_THREAD_MULTIPLE, or when all users are at
    // MPI_THREAD_FUNNELED or below and the calling thread opened the first of them. A second user that does not
    // communicate has no cost for the first one. Error: a component could not be opened. Thread-safe.
    Status choose_locking();
    // Turns the locks on until the instance is destroyed. `reason` is a phrase for mpirun --explain.
    void enable_locks(std::string_view reason) noexcept;
    // The threads of a thread communicator are about to communicate, each by itself and below MPI_THREAD_MULTIPLE too,
    // and end that. Meanwhile no call compares its thread with the one of choose_locking(), and the library locks,
    // because each of them may use communicators of processes too; where it did not before and has one user, it does
    // not afterwards. Called by one of the threads while the others are in no other function of the library.
    void begin_threads() noexcept;
    void end_threads() noexcept;
    // Whether threads of a thread communicator communicate now.
    bool threads_are_active() noexcept;
    // What has been printed about calls of threads that must not make them.
    WrongCalls& wrong_calls() noexcept { return _wrong_calls; }
    // The thread communicators of this process, by handle.
    threads::Registry& thread_communicators() noexcept { return *_thread_communicators; }
    // Records for mpirun --explain whether the library uses locks.
    void record_locking(bool on, std::string_view reason);

    // Waits until this process has done its part of what the program has started and will not complete: freed
    // requests of collectives and of partitioned communication, and sends, on communicators of the session (nullptr: of
    // the world model). Blocks.
    void drain(const Session* session) noexcept;

    // As Runtime::add_job, for a job with which this process is about to communicate: if that is one of another mpirun,
    // whose failures do not end this process, they are reported from then on.
    Result<JobNumber> add_job(std::string_view nspace);
    // Has the failures of other processes reported to the pml, unless they are reported already. May block for a
    // request to the launcher. Thread-safe.
    Status watch_peers();
    void stop_watching_peers() noexcept;

    // What tools can observe of this instance; set while the progress engine exists.
    ToolSources& tool_sources() noexcept { return *_tool_sources; }
    // How many users there are now. It takes no lock, because a tool's read may hold one that a framework takes when it
    // opens.
    std::size_t user_count() const noexcept { return _user_count.load(std::memory_order_relaxed); }

    // The list of open sessions. Thread-safe.
    void add_session(Session& session);
    void remove_session(Session& session) noexcept;
    bool is_open(const Session* session) noexcept;
    bool is_open(const SessionId& id) noexcept;
    // Whether `holds(session)` is true for an open session.
    template <class Holds>
    bool any_session(Holds&& holds) noexcept {
        const std::lock_guard lock(_mutex);
        return std::ranges::any_of(_sessions, [&holds](const Session* session) { return holds(*session); });
    }

    // The windows that have not been freed (mpi/windows/windows.h). Thread-safe.
    void add_window(Window& window);
    void remove_window(Window& window) noexcept;
    // One of the session (nullptr: of the world model); nullptr: there is none.
    Window* first_window(const Session* session) noexcept;
    Window* any_window() noexcept;

private:
    friend class Library;       // calls add_user()
    friend class InstanceLease; // calls remove_user()
    Status open_when_used(FrameworkBase& framework, Lease& kept);
    void add_user(const User& user);
    void remove_user(const User& user) noexcept;
    bool one_thread_at_a_time();
    void choose_single_thread() noexcept;
    std::string locks_reason();

    friend class InstanceBuilder;
    Core& _core;
    ProcessState& _process_state;
    int _thread_level;
    Framework<pml::Component> _pml_framework;
    Framework<btl::Component> _btl_framework;
    Framework<cid::Component> _cid_framework;
    Framework<coll::Component> _coll_framework;
    Framework<osc::Component> _osc_framework;
    Framework<chan::Component> _chan_framework;
    Framework<pset::Component> _pset_framework;
    std::mutex _transports_mutex; // protects the making of the transports
    std::unique_ptr<btl::Transports> _transports;
    std::unique_ptr<pml::Module> _pml;
    std::unique_ptr<pset::Sets> _psets;
    coll::Engine _coll_engine;
    coll::Selector _coll_selector;
    osc::Selector _osc_selector;
    chan::Selector _chan_selector;
    chan::BoundChannels _bound_channels;
    std::unique_ptr<pml::PartitionedEngine> _partitioned;
    std::unique_ptr<threads::Registry> _thread_communicators;
    // Made by make_tables().
    std::optional<cid::IndexTable> _communicators;
    std::optional<cid::Directory> _directory;
    cid::Counters _cid_counters;
    std::atomic<cid::Module*> _cid_module{nullptr};
    BootstrapExchange* _bootstrap = nullptr;     // InstanceBuilder sets and owns it
    ConstructionQueue* _constructions = nullptr; // InstanceBuilder sets and owns it
    Channels* _channels = nullptr;               // InstanceBuilder sets and owns it
    std::unique_ptr<HwResources> _hw_resources;
    std::unique_ptr<ToolSources> _tool_sources;
    PredefinedAttributes _attributes{*this};
    BufferAttachPoint _send_buffer;
    ProcessId _self;
    std::uint64_t _number_mask = 0; // from the nonce of the job
    std::mutex _peer_failures_mutex;
    std::unique_ptr<PeerFailures> _peer_failures;
    std::mutex _mutex; // protects the members below
    std::vector<User> _users;
    std::atomic<std::size_t> _user_count{0}; // their number
    int _thread_activations = 0;             // between begin_threads() and end_threads()
    bool _locks_for_threads = false;         // the library locks because of them only
    WrongCalls _wrong_calls;
    Lease _cid_lease;
    Lease _osc_lease;
    Lease _chan_lease;
    std::vector<Lease> _thread_safe_leases; // on frameworks whose components must support several threads
    std::vector<Session*> _sessions;
    std::vector<Window*> _windows;
};

} // namespace patchbay
