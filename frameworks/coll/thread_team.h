// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace patchbay::coll {

// The members of a communicator that are threads of this process: what a component that serves them by shared memory
// needs of the library (Query::team). One object for all of them. The library makes it; it exists as long as a member
// or a module has it, and the Progress of each member as long as any member has the communicator.
class ThreadTeam {
public:
    // `progress`: of each member, by place. `processes`: of each rank of the communicator, the position of the leader
    // of its process in `leaders`.
    ThreadTeam(std::vector<Progress*> progress, std::vector<int> ranks, std::vector<int> leaders,
        std::vector<int> processes) noexcept
        : _progress(std::move(progress)),
          _ranks(std::move(ranks)),
          _leaders(std::move(leaders)),
          _processes(std::move(processes)) {}

    int size() const noexcept { return int(_progress.size()); }
    // The ranks of the members in the communicator, ascending. The position of a member is its place; where all ranks
    // of the communicator are threads of this process, the place is the rank.
    const std::vector<int>& ranks() const noexcept { return _ranks; }
    // The lowest rank of each process that has members of the communicator, ascending: the same in all processes.
    const std::vector<int>& leaders() const noexcept { return _leaders; }
    // The position of the leader of that rank's process in leaders().
    int process_of(int rank) const noexcept { return _processes[std::size_t(rank)]; }
    // The place of the member with that rank; -1: it is in another process.
    int place_of(int rank) const noexcept {
        const auto found = std::lower_bound(_ranks.begin(), _ranks.end(), rank);
        return found != _ranks.end() && *found == rank ? int(found - _ranks.begin()) : -1;
    }

    // Called by a member after it has stored, with release order or stronger, what the member at `place` may wait for.
    // Does not block.
    void wake(int place) noexcept { _progress[std::size_t(place)]->doorbell().notify(); }

    // The state that the members share: that of the first member that calls, which makes it by make(). Called by each
    // member in a query; `component` is the address of the component, which keeps its state apart from that of others.
    // Throws what make() throws, and std::bad_alloc.
    template <class State, class Make>
    std::shared_ptr<State> share(const void* component, const Make& make) {
        const std::lock_guard lock(_mutex);
        for (const auto& [owner, state] : _states) {
            if (owner == component) {
                return std::static_pointer_cast<State>(state);
            }
        }
        std::shared_ptr<State> made = make();
        _states.emplace_back(component, made);
        return made;
    }

private:
    const std::vector<Progress*> _progress;
    const std::vector<int> _ranks;
    const std::vector<int> _leaders;
    const std::vector<int> _processes;
    std::mutex _mutex; // protects the states
    std::vector<std::pair<const void*, std::shared_ptr<void>>> _states;
};

} // namespace patchbay::coll
