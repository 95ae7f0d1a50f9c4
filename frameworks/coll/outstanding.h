// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/lock.h"
#include "frameworks/coll/tags.h"
#include "object/communicator.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>

namespace patchbay::coll {

class Module;
class Operation;
struct Call;

// The nonblocking and persistent operations of one communicator, and their tags. Two operations that are outstanding at
// the same time have different tags, so that neither can receive a message of the other one, in whatever order their
// steps run in the members.
//
// A nonblocking operation has the next tag. All members call nonblocking operations in the same order, so that its tag
// is the same in all of them. When the tags have gone round, an operation waits until the one that had its tag before
// is complete in this member; it is not started earlier. That is enough: the messages of both between two processes
// have the same tag, are sent in the order of the operations, and are received in that order, too.
//
// A persistent operation keeps its tag until the request is freed, because the members may start several of them in
// different orders. The first ones have the tags in order; when these have gone round, the members agree on a tag that
// is free in all of them, since each frees its requests when it wants.
//
// Nonblocking operations that are complete are kept for the next call with the same arguments, which needs no plan then
// (Schedule::may_repeat): iterative programs repeat a few calls again and again.
class Outstanding {
public:
    Outstanding() = default;
    ~Outstanding();
    Outstanding(const Outstanding&) = delete;
    Outstanding& operator=(const Outstanding&) = delete;

    // The operations that are complete.

    // nullptr: none is for this call. Thread-safe.
    Operation* take_kept(const Module& module, const Call& call) noexcept;
    // Returns the oldest one if there are too many now. Thread-safe.
    Operation* keep(Operation& operation) noexcept;

    // The nonblocking operations.

    // Adds an operation, which gets its tag. true: it may be started; otherwise next_to_start() returns it later.
    // Thread-safe.
    bool add(Operation& operation) noexcept;
    // The operation is complete. Thread-safe.
    void remove(Operation& operation) noexcept;
    // An operation that may be started now, once; nullptr: none. Thread-safe.
    Operation* next_to_start() noexcept;

    // The persistent operations.

    // Finds a tag. Returns an MPI code. Called by all members of the communicator in the same order. May block: the
    // members exchange messages once the tags have gone round.
    int take_persistent_tag(Communicator& comm, int* tag) noexcept;
    // For an initialization that fails: the next one, which the program calls in the place of this one, gets the tag.
    // Not where the members had to agree on it.
    void give_back_persistent_tag(int tag) noexcept;
    void free_persistent_tag(int tag) noexcept;

private:
    using Slots = std::bitset<sequence_tags>;

    std::uint32_t lowest_free(std::uint32_t from) noexcept;
    int agree(Communicator& comm, std::uint32_t* slot) noexcept;

    ProgressLock _lock{true};
    std::uint32_t _next = 0;      // the sequence number of the next operation
    Operation* _oldest = nullptr; // the operations that are not complete, by sequence number
    Operation* _newest = nullptr;
    Operation* _waiting = nullptr;     // the first of them that is not started
    std::uint32_t _persistent = 0;     // how many slots have been given in order
    std::unique_ptr<Slots> _slots;     // those in use
    std::array<Operation*, 4> _kept{}; // the last one first
};

} // namespace patchbay::coll
