// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/framework.h"
#include "core/core.h"
#include "frameworks/btl/btl.h"
#include "frameworks/cid/cid.h"
#include "frameworks/cid/counters.h"
#include "frameworks/cid/directory.h"
#include "frameworks/cid/index_table.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/selector.h"
#include "frameworks/pml/pml.h"
#include "frameworks/pset/pset.h"
#include "mpi/instance/predefined_attributes.h"
#include "mpi/instance/process_state.h"
#include "mpi/instance/single_thread.h"
#include "object/buffer_attach_point.h"
#include "object/session_id.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class ConstructionQueue;
class HwResources;
class BootstrapExchange;
namespace pset {
class Sets;
}

// Who holds a lease on the instance: the world model or a session. MPI_THREAD_FUNNELED and below promise that only the
// thread that opened it calls on its behalf.
struct User {
    int thread_level = MPI_THREAD_SINGLE; // as asked for
    ThreadId thread = 0;                  // that opened it

    bool operator==(const User&) const = default;
    bool keeps_to_a_thread() const noexcept { return thread_level <= MPI_THREAD_FUNNELED; }
};

// The library at work in this process: the core, the frameworks in use and the chosen modules. It exists while
// anybody holds a lease (mpi/library/library.h): the world model takes one between MPI_Init and MPI_Finalize, each
// session takes one. With the last lease everything is undone in reverse and the process is as if MPI had never
// been there.
class Instance {
public:
    Instance(Core& core, ProcessState& process_state, int thread_level); // what its first user asks for
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    Core& core() noexcept { return _core; }
    Runtime& runtime() noexcept { return *_core.runtime; }
    Progress& progress() noexcept { return *_core.progress; }
    Framework<pml::Component>& pml_framework() noexcept { return _pml_framework; }
    Framework<btl::Component>& btl_framework() noexcept { return _btl_framework; }
    Framework<cid::Component>& cid_framework() noexcept { return _cid_framework; }
    Framework<coll::Component>& coll_framework() noexcept { return _coll_framework; }
    Framework<pset::Component>& pset_framework() noexcept { return _pset_framework; }
    // All of these, for what concerns every one alike.
    std::array<FrameworkBase*, 5> frameworks() noexcept {
        return {&_pml_framework, &_btl_framework, &_cid_framework, &_coll_framework, &_pset_framework};
    }
    // Makes the parameters of the library and of its frameworks known to the core; starts nothing. Part of bringing an
    // instance up, and all that a tool needs which only lists them.
    Status define_params();
    pml::Module& pml() noexcept { return *_pml; }
    // The process sets by name (frameworks/pset/sets.h); components are opened when a name is first asked for.
    pset::Sets& psets() noexcept { return *_psets; }
    cid::IndexTable& communicators() noexcept { return _communicators; }
    // The same communicators by exCID, those that have one.
    cid::Directory& directory() noexcept { return _directory; }
    cid::Counters& cid_counters() noexcept { return _cid_counters; }
    // Who names communicators whose info does not say; null until it was first asked for.
    cid::Module* cid_module() const noexcept { return _cid_module.load(std::memory_order_acquire); }
    void set_cid_module(cid::Module* cid_module) noexcept { _cid_module.store(cid_module, std::memory_order_release); }
    coll::Selector& coll_selector() noexcept { return _coll_selector; }
    // Where processes meet that have no communicator in common.
    BootstrapExchange& bootstrap() noexcept { return *_bootstrap; }
    // What outlives this instance.
    ProcessState& process_state() noexcept { return _process_state; }
    // Nonblocking constructors of communicators under way.
    ConstructionQueue& constructions() noexcept { return *_constructions; }
    // What hardware this process runs on; found out on first use.
    HwResources& hw_resources() noexcept { return *_hw_resources; }
    PredefinedAttributes& attributes() noexcept { return _attributes; }
    // What MPI_Buffer_attach attached (mpi/instance/send_buffer.h).
    BufferAttachPoint& send_buffer() noexcept { return _send_buffer; }
    ProcessId self() const noexcept { return _self; }
    // One that no process of the job has ever had: 24 bits say who handed it out, 39 bits count.
    std::uint64_t unique_number() noexcept { return std::uint64_t(_self.rank) << 39 | _process_state.next_number(); }
    // The highest of MPI_THREAD_SINGLE .. MPI_THREAD_MULTIPLE that a user (the world model, a session) can have.
    int thread_level() const noexcept { return _thread_level; }
    // Before a user's first communication: all of the library locks from here on unless it is certain that one thread
    // uses it at a time. It is for a user that is alone and below MPI_THREAD_MULTIPLE, and for any number that keep to
    // the calling thread. Until then a second user costs the first nothing, wherever it is.
    // Error: a component cannot be opened any more. Thread-safe.
    Status settle_threads();
    // What that does when it must: `reason` is a phrase for mpirun --explain.
    void lock_from_now_on(std::string_view reason) noexcept;
    // What mpirun --explain says of locks.
    void explain_locks(bool on, std::string_view reason);

    // The sessions that are open. Thread-safe.
    void remember(Session& session);
    void forget(Session& session) noexcept;
    bool is_open(const Session* session) noexcept;
    bool is_open(const SessionId& id) noexcept;

private:
    friend class Library; // the next two
    friend class InstanceLease;
    void add_user(const User& user);
    void remove_user(const User& user) noexcept;
    bool one_thread_at_a_time();
    void choose_single_thread() noexcept;
    std::string why_locks();

    friend class InstanceBuilder;
    Core& _core;
    ProcessState& _process_state;
    int _thread_level;
    Framework<pml::Component> _pml_framework;
    Framework<btl::Component> _btl_framework;
    Framework<cid::Component> _cid_framework;
    Framework<coll::Component> _coll_framework;
    Framework<pset::Component> _pset_framework;
    std::unique_ptr<pml::Module> _pml;
    std::unique_ptr<pset::Sets> _psets;
    coll::Selector _coll_selector;
    cid::IndexTable _communicators;
    cid::Directory _directory;
    cid::Counters _cid_counters;
    std::atomic<cid::Module*> _cid_module{nullptr};
    BootstrapExchange* _bootstrap = nullptr; // these two: set and owned by InstanceBuilder
    ConstructionQueue* _constructions = nullptr;
    std::unique_ptr<HwResources> _hw_resources;
    PredefinedAttributes _attributes{*this};
    BufferAttachPoint _send_buffer;
    ProcessId _self;
    std::mutex _mutex; // what follows
    std::vector<User> _users;
    std::vector<Lease> _raised; // on frameworks, with what several threads need
    std::vector<Session*> _sessions;
};

} // namespace patchbay
