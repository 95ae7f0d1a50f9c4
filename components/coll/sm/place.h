// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/sm/area.h"
#include "core/memory/node_segment.h"
#include "core/progress/progress.h"
#include "frameworks/coll/coll.h"

#include <array>
#include <vector>

namespace patchbay::coll::sm {

// Another member as this one sees it.
struct Peer {
    Doorbell* bell = nullptr;
    std::int32_t pid = 0; // 0: it cannot be seen
};

// The last member that leaves frees the memory.
void leave_area(NodeSegment& segment, SharedAddress address, Area& area) noexcept;

// A member of a communicator in the memory that the members share.
//
// All members go through the same steps, which are numbered from 1; a collective is one step. In a step a member may
// contribute: it writes its slot, and shows it by storing the number of the step. Another member may look for that
// slot. In some steps all members join: each comes, and the last one to come makes the result and tells the others, so
// that a member that waits has to run once in a step. A member that only contributes goes on at once, ahead of the
// others as far as there is room.
//
// A step of a member: try_begin() until there is room, take_memory(), show() or nothing, come() where all join, is
// shown by those that it waits for or has_ended() the join, end().
class Place final : public CommData {
public:
    Place(Progress& progress, NodeSegment& segment, SharedAddress address, Area& area, std::vector<Peer> peers,
        std::uint32_t rank) noexcept
        : _progress(progress),
          _segment(segment),
          _address(address),
          _area(area),
          _peers(std::move(peers)),
          _size(std::uint32_t(_peers.size())),
          _rank(rank) {}
    // Leaves the memory.
    ~Place() override;
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    int rank() const noexcept { return int(_rank); }
    int size() const noexcept { return int(_size); }

    // Announces the next step, to which this member contributes up to that many bytes, at most longest_contribution.
    // Once in each step, before try_begin().
    void next_step(std::size_t contributes) noexcept {
        ++_step;
        _need = contributes <= Slot::room ? 0 : Unit::number_for(contributes);
        if (_need > 0) { // units in a row: those at the end of the ring that are too few are left out
            const std::uint64_t left = units - _unit % units;
            _unit += _need > left ? left : 0;
        }
        if (has_room()) [[likely]] {
            note_end();
        }
    }
    // Whether there is room for the contribution of this step: false while others may still read what is there.
    bool try_begin() noexcept { return _begun == _step || look_for_room(); }
    // Before the first contribution that is not in a slot. MPI_ERR_NO_MEM: the member has to show that it has failed.
    int take_memory() noexcept { return _need == 0 || _ring != nullptr ? MPI_SUCCESS : take_ring(); }
    // Where the own contribution of so many bytes is to be written, until it is shown.
    std::byte* own_room(std::size_t bytes) noexcept {
        return bytes <= Slot::room ? slot(int(_rank)).data : _ring + _unit % units * Unit::bytes;
    }
    // Shows this member's slot. MPI_SUCCESS: with that many bytes in own_room(), or Slot::passed_on.
    void show(std::uint16_t bytes, int code) noexcept {
        Slot& own = slot(int(_rank));
        own.bytes = bytes;
        own.code = code;
        if (bytes > Slot::room && bytes != Slot::passed_on) {
            own.unit = std::uint16_t(_unit % units);
            _unit += _need;
            note_end();
        }
        own.step.store(_step, std::memory_order_release);
    }

    // Comes to the join of this step. make_result() is called in the member that comes last, and returns the MPI code
    // of all members; what it writes to result_room(bytes) is for all of them.
    template <class MakeResult>
    void come(std::uint16_t bytes, const MakeResult& make_result) noexcept {
        const std::uint64_t number = ++_joins;
        if (_area.joined.fetch_add(1, std::memory_order_acq_rel) + 1 == number * _size) {
            _area.result.code = make_result();
            _area.result.bytes = bytes;
            _area.result.step.store(number, std::memory_order_release);
            wake_others();
        }
    }
    bool has_ended() const noexcept { return _area.result.step.load(std::memory_order_acquire) >= _joins; }
    bool has_shown(int rank) const noexcept { return slot(rank).step.load(std::memory_order_acquire) >= _step; }
    void wake(int rank) noexcept { _peers[std::size_t(rank)].bell->notify(); }
    void wake_others() noexcept {
        for (const Peer& peer : _peers) {
            peer.bell->notify(); // the own one is not up
        }
    }

    // What a member has shown in this step. Its contents are where contents() says.
    const Slot& of(int rank) const noexcept { return slot(rank); }
    const std::byte* contents(int rank) const noexcept {
        const Slot& shown = slot(rank);
        return shown.bytes <= Slot::room ? shown.data
                                         : _area.ring(_size, std::uint32_t(rank)) + shown.unit * Unit::bytes;
    }
    // Of the last join.
    const Slot& result() const noexcept { return _area.result; }
    std::byte* result_room(std::size_t bytes) noexcept {
        return bytes <= Slot::room ? _area.result.data : _area.long_result;
    }

    // Ends the step, which this member does not use any more. `saw_all`: every other member has come to it, as this one
    // knows; `seen_by_all`: likewise they all know, or will know before their next step, that this one has.
    void end(bool saw_all, bool seen_by_all) noexcept {
        _all_done = saw_all ? _step - 1 : _all_done;
        _published = seen_by_all ? _step - 1 : _published;
        if (_step - _published > unpublished_limit) {
            publish(_step);
        }
    }

    // For a member that waits: tells the others what it has completed, because they may wait for that.
    void publish_all() noexcept {
        if (_published < _step - 1) {
            publish(_step - 1);
        }
    }
    // Whether a process of the communicator has ended. A system call for each of them.
    bool look_for_failures() noexcept;
    // A step has ended because of that; no other one begins.
    bool has_failed() const noexcept { return _failed; }

    Progress& progress() const noexcept { return _progress; }

private:
    Slot& slot(int rank) const noexcept { return _area.slot(_size, std::uint32_t(rank), _step); }
    // The slot of this step, and the units that it needs, are used by no step that a member may still read.
    bool has_room() const noexcept {
        return _step < _all_done + slots && _unit + _need <= _ends[_all_done % slots] + units;
    }
    void note_end() noexcept {
        _ends[_step % slots] = _unit;
        _begun = _step;
    }
    bool look_for_room() noexcept;
    int take_ring() noexcept;
    void publish(std::uint64_t step) noexcept;

    Progress& _progress;
    NodeSegment& _segment;
    const SharedAddress _address;
    Area& _area;
    const std::vector<Peer> _peers;
    const std::uint32_t _size;
    const std::uint32_t _rank;
    bool _failed = false;
    std::byte* _ring = nullptr; // the own one; nullptr: it has not taken memory yet
    std::uint64_t _step = 0;
    std::uint64_t _begun = 0; // the last step for which there was room
    std::uint64_t _joins = 0;
    std::uint64_t _published = 0; // steps that others know this member has completed
    std::uint64_t _all_done = 0;  // steps that all members are known to have completed
    std::uint64_t _need = 0;      // units of this step
    std::uint64_t _unit = 0;      // units of the ring that steps have used, counted without end
    // The value of _unit at the end of each of the last steps, by its number.
    std::array<std::uint64_t, slots> _ends{};
};

} // namespace patchbay::coll::sm
