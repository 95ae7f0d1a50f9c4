// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "object/datatype.h"
#include "object/op.h"
#include "object/request.h"
#include "object/window.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

class Context;

// osc: one-sided communication, chosen per window: by info key `patchbay_osc` of the constructor, otherwise by
// parameter `osc`. Every member of a window has the same component: a component that refuses in one member is no
// candidate in any.
//
// Common rules, for every function of Module unless it says otherwise:
//  - Called by the bindings on any thread the thread level allows. The module locks itself when Progress::threaded() is
//    set and takes no lock otherwise.
//  - Arguments have been checked: ranks are in the window's group and never MPI_PROC_NULL, types are committed, each
//    operation transfers at least one byte, and it lies within the target's memory (in a dynamic window only the module
//    can know that). The epochs of this process have been checked, too (epochs.h): put() is called in an access epoch
//    to that target only, unlock() only for a lock that is held, and so on. No two threads call synchronization
//    functions of one window for the same target at once.
//  - Returns an MPI error code. The function that finds the cause reports the text (object/error_cause.h); its callers
//    only return the code. An error of an operation that is under way is returned by the call that completes it.
//  - "May block" means: waits with the library's waiting policy and makes progress meanwhile. Where a member has failed
//    on which the call waits, it returns MPI_ERR_PROC_ABORTED.
namespace osc {

inline constexpr std::uint32_t interface_version = 6;

// The buffer of the calling process.
struct Origin {
    const void* buffer;
    MPI_Count count;
    const Datatype* type;
};

// The buffer of the calling process that an operation writes.
struct Fetched {
    void* buffer;
    MPI_Count count;
    const Datatype* type;
};

// Where an operation reads and writes at the target. `place` is the number of bytes from the base of the target's
// memory; in a dynamic window it is an address of the target.
struct Target {
    int rank;
    std::uint64_t place;
    MPI_Count count;
    const Datatype* type;
};

class Module {
public:
    virtual ~Module() = default;

    // Communication. Never blocks but for room: a module may wait until it has room for the operation. The buffers
    // belong to the operation until a call that completes it at the origin. `type` of a buffer may be freed by the
    // program before that; a module that keeps it holds a reference.
    //
    // `request` is null unless the program asked for a request (MPI_Rput and the like). Otherwise *request becomes an
    // active request, perhaps complete already: complete when the buffers of the origin may be used again, and for
    // get() and get_accumulate() when the result is there. The request belongs to the window's communicator.
    virtual int put(const Origin& origin, const Target& target, Request** request) noexcept = 0;
    virtual int get(const Fetched& result, const Target& target, Request** request) noexcept = 0;
    // Atomic for each element of a predefined type, and ordered for each pair of origin and target as info key
    // accumulate_ordering says. `op` is a predefined op, MPI_REPLACE or (get_accumulate and fetch_and_op) MPI_NO_OP,
    // with which `origin` has no meaning. Both sides consist of elements of the same predefined type.
    virtual int accumulate(const Origin& origin, const Target& target, const Op& op, Request** request) noexcept = 0;
    virtual int get_accumulate(const Origin& origin, const Fetched& result, const Target& target, const Op& op,
        Request** request) noexcept = 0;
    // One element of a predefined type, atomic with all functions of this group.
    virtual int fetch_and_op(const void* origin, void* result, const Datatype& type, int rank, std::uint64_t place,
        const Op& op) noexcept = 0;
    virtual int compare_and_swap(const void* origin, const void* compare, void* result, const Datatype& type, int rank,
        std::uint64_t place) noexcept = 0;

    // Active target (MPI-5.0, 12.5.1 and 12.5.2). fence() is collective, and may block. `assertion` is a combination of
    // MPI_MODE_*; one that allows less work may be ignored.
    virtual int fence(int assertion) noexcept = 0;
    // Ranks of the group of the call, in the window's group. post() does not block; start() may.
    virtual int post(std::span<const int> origins, int assertion) noexcept = 0;
    virtual int start(std::span<const int> targets, int assertion) noexcept = 0;
    // Ends the epoch that start() began. May block until the operations are complete at the origin.
    virtual int complete() noexcept = 0;
    // Ends the epoch that post() began, when all its origins have called complete() and their operations are complete
    // here. wait() may block; test() sets *done instead, and makes one round of progress.
    virtual int wait() noexcept = 0;
    virtual int test(bool* done) noexcept = 0;

    // Passive target (12.5.3). lock() may return before the lock is held, unless `rank` is the calling process; the
    // operations that follow wait for it. The unlock functions block until all operations of the epoch are complete at
    // the target and at the origin.
    virtual int lock(bool exclusive, int rank, int assertion) noexcept = 0;
    // Of a module whose lock() returns before the lock is held (lock_order.h). lacks_lock(): whether the lock of `rank`
    // has been asked for and may not be held yet; any thread, does not block. hold_lock(): waits until it is held, or
    // has been refused, which the calls for that target report.
    virtual bool lacks_lock(int rank) noexcept {
        (void)rank;
        return false;
    }
    virtual void hold_lock(int rank) noexcept { (void)rank; }
    virtual int unlock(int rank) noexcept = 0;
    virtual int lock_all(int assertion) noexcept = 0;
    virtual int unlock_all() noexcept = 0;
    // Complete the operations of this process to `rank`, or to all: at the target and at the origin, or only at the
    // origin. May block.
    virtual int flush(int rank) noexcept = 0;
    virtual int flush_all() noexcept = 0;
    virtual int flush_local(int rank) noexcept = 0;
    virtual int flush_local_all() noexcept = 0;
    // Stores of this process to its own window memory, and those of others, are visible to each other afterwards.
    virtual int sync() noexcept = 0;

    // Dynamic windows. Local. MPI_ERR_RMA_ATTACH: no memory for the region, or it overlaps an attached one (which the
    // caller has checked).
    virtual int attach(void* base, std::uint64_t bytes) noexcept = 0;
    virtual int detach(void* base) noexcept = 0;

    // Called by MPI_Win_set_info after the window's hints have changed, by every member. Local.
    virtual void hints_changed() noexcept {}

    // By how many bytes the module synchronizes accumulates, as MPI_Win_get_info returns mpi_accumulate_granularity; 0:
    // by what suits each operation. Constant. The other hints on accumulates are what the program has promised: a
    // module that is stricter keeps them, too.
    virtual std::uint64_t accumulate_granularity() const noexcept { return 0; }

    // Called by MPI_Win_free in every member when no epoch is open in any of them, before the module is destroyed, with
    // a barrier between the call and the destruction. May block until nothing of this process is under way.
    virtual int finish() noexcept { return MPI_SUCCESS; }

    // Called at most once, right before the module is destroyed, where the members have not all come to the end of the
    // window: the program has not freed it before MPI_Finalize, or a member has failed in MPI_Win_free. Other members
    // may still access memory of this process for the window; what they share with it must stay allocated. Local.
    virtual void abandon() noexcept {}
};

class Component : public patchbay::Component {
public:
    // Called for every new window, by every member, on the thread that constructs it. The window has its communicator,
    // flavor, hints and members; no module, and no epochs. Must not communicate. Returns the priority (0 to 100), which
    // depends on parameters that are equal in all members only. Errc::not_available: not for this window. Of a window
    // whose ranks are threads (its communicator has a view) only a component with Capability::peers_threads is asked:
    // each thread has a Window and a module of its own then, which wait by Communicator::progress.
    virtual Result<int> query(Context& context, const Window& window) = 0;
    // Called once for the component that was selected, by every member, on the same thread. May communicate over
    // window.comm, and may block. A member that has an error still takes part in all communication for which others
    // wait. The caller has all members learn of the error, and destroys the modules of the others.
    virtual Result<std::unique_ptr<Module>> create(Context& context, Window& window) noexcept = 0;
};

} // namespace osc
} // namespace patchbay
