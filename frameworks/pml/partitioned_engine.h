// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/lock.h"
#include "core/progress/progress.h"
#include "frameworks/pml/partitioned.h"
#include "object/effort.h"

#include <cstdint>
#include <functional>
#include <map>

namespace [[gnu::visibility("default")]] patchbay {

struct Core;
class Session;

namespace pml {

class MessageBinder;
class PartitionedSend;
class PartitionedRecv;

// Makes the objects of partitioned requests. The checking mode has its own, which watch their buffers.
class PartitionedMaker {
public:
    // Called by MPI_Psend_init and MPI_Precv_init, on the calling thread. Must not block. nullptr: memory is exhausted.
    virtual PartitionedSend* make_send(
        PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm) noexcept = 0;
    virtual PartitionedRecv* make_recv(
        PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm) noexcept = 0;

protected:
    ~PartitionedMaker() = default;
};

// What the partitioned requests of one instance share: their tags, and those of them that have no handle any more.
// Thread-safe.
class PartitionedEngine {
public:
    explicit PartitionedEngine(Core& core) noexcept
        : _core(core) {}
    ~PartitionedEngine();
    PartitionedEngine(const PartitionedEngine&) = delete;
    PartitionedEngine& operator=(const PartitionedEngine&) = delete;

    Progress& progress() noexcept;
    // Before the first request; nullptr: the requests are those of this folder, which is the default.
    void set_maker(PartitionedMaker* maker) noexcept { _maker = maker; }
    // Ranks that are threads have the requests of this folder.
    PartitionedMaker* maker_for(const Communicator& comm) const noexcept {
        return comm.view == nullptr ? _maker : nullptr;
    }
    // The default, nullptr: the pml carries all messages. Before the first request, and after the last one.
    void set_binder(MessageBinder* binder) noexcept { _binder = binder; }
    MessageBinder* binder() const noexcept { return _binder; }
    // Reads info key patchbay_effort of the initializations.
    EffortKey& effort_key() noexcept { return _effort_key; }
    // The parameter mpi_part_message_size, in bytes.
    std::int64_t message_size() const noexcept;

    static constexpr int no_tags = -1;
    // Takes `count` successive tags (partitioned_tags.h), which no other request of this process has. Returns the
    // number of the first; no_tags: there are none, or memory is exhausted.
    int take_tags(int count) noexcept;
    void give_back_tags(int first) noexcept;

    // The list of the requests whose handles were released while they were active, or before their setup ended.
    // A poller looks at the channels of those that are active.
    void add(Partitioned& request) noexcept;
    void remove(Partitioned& request) noexcept { _released.remove(request.released); } // if it is in the list
    // Waits until the requests in the list, of the session (nullptr: of the world model), have done what the other
    // processes need. Blocks. Called before the session's communication ends.
    void wait_for_freed(const Session* session) noexcept;
    // The same for those on communicators for which is_one() is true, all of which belong to the calling thread. Their
    // setup messages, too, have been sent then.
    void wait_for_freed(
        Progress& of_thread, const Session* session, const std::function<bool(const Communicator&)>& is_one) noexcept;
    // Calls act() for the communicator of each request in the list whose setup message has not arrived, with the lock
    // of the list held.
    void for_each_unmatched(const std::function<void(const Communicator&)>& act) noexcept;
    // Destroys those on communicators for which is_one() is true, as above. Called when no message can arrive any more.
    void cancel_unmatched(Progress& of_thread, const std::function<bool(const Communicator&)>& is_one) noexcept;
    // Has the next poll destroy the requests in the list whose setup message has not arrived. Called when no message
    // can arrive any more, before the communicators are destroyed.
    void cancel_unmatched() noexcept;

private:
    int watch() noexcept;

    Core& _core;
    PartitionedMaker* _maker = nullptr;
    MessageBinder* _binder = nullptr;
    EffortKey _effort_key;
    ProgressLock _lock{true};  // protects the tags
    std::map<int, int> _taken; // the first number of each range of tags, and the one behind its last
    int _next = 0;             // behind the range that was taken last
    ReleasedList _released;
    ProgressLock _watch_lock{true}; // protects what follows; taken before the lock of the list
    PollerHandle _watcher;
};

// MPI_Psend_init and MPI_Precv_init; `what`.sends tells which. *request is inactive. MPI codes. Never block.
int make_partitioned(
    PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm, Request** request) noexcept;

} // namespace pml
} // namespace patchbay
