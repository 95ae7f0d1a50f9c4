// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/attribute.h"
#include "object/buffer_attach_point.h"
#include "object/errhandler.h"
#include "object/group.h"
#include "object/info.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace [[gnu::visibility("default")]] patchbay {

namespace pml {
class Module;
class CommData;
}
namespace coll {
class CommData;
class Outstanding;
class Table;
}
namespace cid {
class CommunicatorId;
}
namespace threads {
class View;
}
class Instance;
class JobReferences;
class Progress;
class Topology;

// A communicator: its groups, its local index (CID), and the modules that it uses. It depends on no protocol: a module
// stores its data for the communicator behind a pointer, and owns that data. mpi/communicators/communicators.h
// constructs and destroys communicators. An object that keeps a pointer to a communicator beyond a call, such as a
// pending request, holds a reference; MPI_Comm_free releases only the reference of the handle.
class Communicator final : public Object {
public:
    Communicator();
    ~Communicator();
    static void destroy(Communicator*) noexcept;

    // These are read on the hot path. They are set before another thread can use the communicator.
    pml::Module* pml = nullptr;
    pml::CommData* pml_data = nullptr; // owned by the pml
    int rank = MPI_UNDEFINED;          // in the local group
    int size = 0;                      // of the local group
    int remote_size = 0;               // of the remote group; an intracommunicator's is `size`
    std::uint16_t index = 0;           // the CID: slot in this process's table of communicators
    bool is_inter = false;

    coll::Table* coll = nullptr; // owned by the coll framework
    // What modules of coll keep of it, as a list; null: nothing. Owned by the coll framework.
    coll::CommData* coll_data = nullptr;
    // Blocking collectives that a module has counted (coll::Module::count_call).
    std::uint32_t coll_calls = 0;
    Session* session = nullptr;        // nullptr: world model
    cid::CommunicatorId* id = nullptr; // its identifier and its peers' indices; owned by cid
    Instance* instance = nullptr;
    // Of a rank that is a thread (mpi/threads/view.h): what that thread has of the communicator, and what its waits
    // poll. The object belongs to this one thread. Both are null for a rank that is a process.
    threads::View* view = nullptr;
    Progress* progress = nullptr;
    // What waits for operations on the communicator poll.
    Progress& progress_or(Progress& of_process) const noexcept { return progress != nullptr ? *progress : of_process; }
    // Of the communicator of a window: that window, to which an error of a request is reported; null: it is none.
    Window* window = nullptr;
    Communicator* next_of_session = nullptr; // in the list of the session's communicators
    Communicator* previous_of_session = nullptr;
    // No other communicator of this process has had it, nor has any the number 0: for those who remember one that may
    // be freed meanwhile, when another one may have its address and its index. Taken by the first call, because most
    // communicators are never remembered.
    std::uint64_t serial() const noexcept;
    bool in_session = false;    // whether it is in that list
    bool is_local_side = false; // whether it is the `local_comm` of an intercommunicator, with which it is freed
    bool freed = false;         // whether the program has freed it; pending requests may still hold references
    bool is_ending = false;     // its destruction has begun (bound_objects_mutex())
    bool of_library = false;    // whether the program has no handle of it, and none of its messages is the program's

    Ref<Group> group;
    Group* remote_group = nullptr; // an intracommunicator's is `group`
    // Holds the remote group of an intercommunicator.
    Ref<Group> own_remote_group;
    // Whether a member is of another job than the calling process.
    bool has_other_jobs() const noexcept {
        return group->has_other_jobs() || (is_inter && remote_group->has_other_jobs());
    }
    // Keeps the other jobs of its members in the table of jobs; null: it has no member of another job, or its groups
    // come from process sets, which keep their jobs.
    std::shared_ptr<const JobReferences> jobs;
    // Of an intercommunicator only: an intracommunicator of the local group, for the library's messages within that
    // group. This pointer holds a reference.
    Communicator* local_comm = nullptr;
    // Its virtual topology (object/topology.h), which never changes; null: it has none. Set before its collectives are
    // selected. A duplicate shares that of its parent; no other constructor passes it on.
    std::shared_ptr<const Topology> topology;
    Ref<Info> hints;
    AttributeMap attributes;
    mutable std::mutex mutex; // protects name, errhandler and hints
    Ref<Errhandler> errhandler;
    std::string name;
    BufferAttachPoint send_buffer; // of MPI_Comm_attach_buffer (mpi/instance/send_buffer.h)
    // The number of constructors that all members have called on this communicator, which distinguishes the messages of
    // one constructor from those of another.
    std::atomic<std::uint32_t> constructions{0};
    // Its nonblocking and persistent collectives; null before the first one. Owned by the coll framework.
    coll::Outstanding* outstanding = nullptr;
    // How many references are held by requests for which no communication is pending, because they are complete; the
    // persistent ones of the list below are not among them. `threaded` as in Request.
    std::int32_t complete_references() const noexcept { return _complete_references.load(std::memory_order_relaxed); }
    void add_complete_reference(bool threaded) noexcept { change_complete_references(1, threaded); }
    void remove_complete_reference(bool threaded) noexcept { change_complete_references(-1, threaded); }
    // The persistent requests whose handles the program has, as a list (Request::enter_list). Protected by `mutex`.
    Request* persistent_requests = nullptr;

    // Texts for messages to the user: `8 processes` or, where the ranks are threads, `8 threads`; the name, or the
    // index and the number of members where there is no name.
    std::string count_members() const;
    std::string describe() const;

private:
    void change_complete_references(std::int32_t by, bool threaded) noexcept {
        if (threaded) {
            _complete_references.fetch_add(by, std::memory_order_relaxed);
        } else {
            _complete_references.store(complete_references() + by, std::memory_order_relaxed);
        }
    }

    std::atomic<std::int32_t> _complete_references{0};
    mutable std::atomic<std::uint64_t> _serial{0};
};

// Has the communicator count a reference of a request as one for which no communication is pending, until clear() or
// the end of this object; the request releases its reference after that.
class CompleteReference {
public:
    CompleteReference() = default;
    ~CompleteReference() { clear(); }
    CompleteReference(const CompleteReference&) = delete;
    CompleteReference& operator=(const CompleteReference&) = delete;

    void set(Communicator& comm) noexcept {
        _comm = &comm;
        comm.add_complete_reference(true);
    }
    void clear() noexcept {
        if (Communicator* comm = std::exchange(_comm, nullptr)) {
            comm->remove_complete_reference(true);
        }
    }

private:
    Communicator* _comm = nullptr;
};

} // namespace patchbay
