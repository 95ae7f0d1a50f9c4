// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/framework.h"
#include "core/core.h"
#include "frameworks/btl/btl.h"
#include "frameworks/cid/cid.h"
#include "frameworks/cid/index_table.h"
#include "frameworks/coll/coll.h"
#include "frameworks/pml/pml.h"
#include "frameworks/pset/pset.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class ConstructionQueue;
class HwResources;
class SendBuffer;
namespace pset {
class Sets;
}

// The library at work in this process: the core, the frameworks in use and the chosen modules. It exists while
// anybody holds a lease (mpi/instance/library.h): the world model takes one between MPI_Init and MPI_Finalize, each
// session takes one. With the last lease everything is undone in reverse and the process is as if MPI had never
// been there.
class Instance {
public:
    Instance(Core& core, int thread_level); // what its first user asks for
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
    // Nonblocking constructors of communicators under way.
    ConstructionQueue& constructions() noexcept { return *_constructions; }
    // What hardware this process runs on; found out on first use.
    HwResources& hw_resources() noexcept { return *_hw_resources; }
    // What MPI_Buffer_attach attached (mpi/instance/send_buffer.h); null: nothing.
    std::shared_ptr<SendBuffer>& send_buffer() noexcept { return _send_buffer; }
    ProcessId self() const noexcept { return _self; }
    // The highest of MPI_THREAD_SINGLE .. MPI_THREAD_MULTIPLE that a user (the world model, a session) can have.
    int thread_level() const noexcept { return _thread_level; }
    // Before a user's first communication: where there is another user, who may be on another thread, or one that asked
    // for MPI_THREAD_MULTIPLE, all of the library locks from here on. Until then a second user costs the first nothing.
    // Error: a component cannot be opened any more. Thread-safe.
    Status settle_threads();

    // The sessions that are open. Thread-safe.
    void remember(Session& session);
    void forget(Session& session) noexcept;
    bool is_open(const Session* session) noexcept;

private:
    friend class Library; // the next two
    friend class InstanceLease;
    void add_user(int thread_level) noexcept;
    void remove_user() noexcept { _users.fetch_sub(1); }

    friend class InstanceBuilder;
    Core& _core;
    int _thread_level;
    Framework<pml::Component> _pml_framework;
    Framework<btl::Component> _btl_framework;
    Framework<cid::Component> _cid_framework;
    Framework<coll::Component> _coll_framework;
    Framework<pset::Component> _pset_framework;
    std::unique_ptr<pml::Module> _pml;
    std::unique_ptr<pset::Sets> _psets;
    cid::IndexTable _communicators;
    std::unique_ptr<ConstructionQueue> _constructions;
    std::unique_ptr<HwResources> _hw_resources;
    std::shared_ptr<SendBuffer> _send_buffer;
    ProcessId _self;
    std::atomic<int> _users{0};
    std::atomic<bool> _multiple{false}; // somebody asked for MPI_THREAD_MULTIPLE
    std::mutex _mutex;                  // what follows
    std::vector<Lease> _raised;         // on frameworks, with what several threads need
    std::vector<Session*> _sessions;
};

} // namespace patchbay
