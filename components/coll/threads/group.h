// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/waiter.h"
#include "frameworks/coll/thread_team.h"
#include "object/datatype.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace patchbay::coll::threads {

// Where the data of a member is, and what goes beside it.
struct Buffers {
    const void* send;
    void* recv;
    MPI_Count count;
    const Datatype* type;
};

// Why a slot has none.
inline constexpr std::string_view has_no_data =
    "another member of the communicator has failed, or called another function";

// One cache line, written by its member only, so that a reader gets the number of the step and the data by one
// transfer.
struct alignas(64) Slot {
    static constexpr std::size_t room = 48;
    static constexpr std::uint8_t nothing = 255; // as the number of bytes: it has no data

    std::atomic<std::uint64_t> step{0}; // whose contents it has
    bool by_address = false;            // `buffers` is set, otherwise `data`
    bool in_block = false;              // `buffers` has the address of the member's block of this step
    std::uint8_t bytes = 0;             // of the data
    int code = MPI_SUCCESS;             // of a broadcast: an error instead of data
    union {
        alignas(16) std::byte data[room];
        Buffers buffers;
    };

    Slot() noexcept
        : data{} {}
};
static_assert(sizeof(Slot) == 64);

// What does not fit in a slot and is copied nevertheless, so that its owner need not wait until the others have read
// it.
struct alignas(64) Block {
    static constexpr std::size_t room = 4096;
    std::array<std::byte, room> bytes;
};

// What the members of one communicator share.
//
// All members go through the same steps, which are numbered from 1. In each step a member writes its slot and then
// shows it; a step is complete when all members have. A slot and the block that belongs to it are used again after
// `depth` steps, when all members have begun the next step but one to that: they have read it by then.
struct Group {
    static constexpr std::uint64_t depth = 4;

    struct Member {
        std::array<Slot, depth> slots;
    };
    // Of the steps with one remainder. Not used by two members, which look at each other's slots.
    struct Step {
        alignas(64) std::atomic<int> arrived{0};
        alignas(64) std::atomic<std::uint64_t> complete{0}; // written by the last member that arrives
    };

    Group(int size, std::size_t longest_copy)
        : longest_copy(longest_copy),
          members(std::size_t(size)),
          blocks(std::make_unique_for_overwrite<Block[]>(std::size_t(size) * depth)) {}

    const std::size_t longest_copy; // the bytes that go by a block at most
    std::vector<Member> members;
    const std::unique_ptr<Block[]> blocks; // `depth` of each member
    std::array<Step, depth> steps;
};

// One member in its group. All functions are called by its thread.
class Place {
public:
    Place(std::shared_ptr<Group> group, std::shared_ptr<ThreadTeam> team, int rank) noexcept
        : _group(std::move(group)),
          _team(std::move(team)),
          _rank(rank),
          _size(_team->size()) {}

    int rank() const noexcept { return _rank; }
    int size() const noexcept { return _size; }
    std::size_t longest_copy() const noexcept { return _group->longest_copy; }

    // Begins the next step. The slot may be written from then on. Waits for members that are `depth` - 1 steps behind.
    Slot& begin(Progress& progress) noexcept {
        ++_step;
        if (_step >= Group::depth) {
            wait_complete(_step - (Group::depth - 1), progress);
        }
        return slot_of(_rank);
    }
    // The block of this member, which may be written when the slot may.
    std::byte* block() noexcept {
        return _group->blocks[std::size_t(_rank) * Group::depth + _step % Group::depth].bytes.data();
    }
    // Shows the slot. `awaited`: another member may wait for this slot (wait_for) and not only for the end of the step.
    void show(bool awaited) noexcept;
    // Waits until the member has shown its slot of this step.
    const Slot& wait_for(int rank, Progress& progress) noexcept {
        const Slot& slot = slot_of(rank);
        wait(progress, [&slot, step = _step] { return slot.step.load(std::memory_order_acquire) >= step; });
        return slot;
    }
    // Waits until all members have shown their slots of this step.
    void wait_for_all(Progress& progress) noexcept { wait_complete(_step, progress); }
    // A step of which nobody needs the slots.
    void meet(Progress& progress) noexcept {
        arrive(progress);
        wait_for_all(progress);
    }
    // The same, without waiting for its end.
    void arrive(Progress& progress) noexcept {
        Slot& own = begin(progress);
        own.by_address = false; // for members that wait for data: it has failed, or they call another function
        own.bytes = Slot::nothing;
        own.code = MPI_SUCCESS;
        show(false);
    }
    const Slot& of(int rank) const noexcept { return slot_of(rank); }

private:
    // Looks several times between two polls: a look costs a nanosecond, a poll ten times that.
    template <class Done>
    static void wait(Progress& progress, const Done& done) noexcept {
        constexpr int looks = 16;
        wait_until(progress, [&done] {
            for (int i = 0; i < looks; ++i) {
                if (done()) {
                    return true;
                }
            }
            return false;
        });
    }
    void wait_complete(std::uint64_t step, Progress& progress) noexcept {
        if (_complete >= step) {
            return;
        }
        const std::atomic<std::uint64_t>& word = _size == 2
            ? _group->members[std::size_t(1 - _rank)].slots[step % Group::depth].step
            : _group->steps[step % Group::depth].complete;
        wait(progress, [&word, step] { return word.load(std::memory_order_acquire) >= step; });
        _complete = step;
    }
    Slot& slot_of(int rank) const noexcept { return _group->members[std::size_t(rank)].slots[_step % Group::depth]; }
    void wake_others() noexcept;

    const std::shared_ptr<Group> _group;
    const std::shared_ptr<ThreadTeam> _team;
    const int _rank;
    const int _size;
    std::uint64_t _step = 0;
    std::uint64_t _complete = 0; // the last step that is known to be
};

} // namespace patchbay::coll::threads
