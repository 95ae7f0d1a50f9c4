// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace patchbay::coll {

// The members of a communicator that are all threads of this process: what a component that serves them by shared
// memory needs of the library (Query::team). One object for all members. The library makes it; it exists as long as a
// member or a module has it, and the Progress of each member as long as any member has the communicator.
class ThreadTeam {
public:
    // `progress`: of each member, by rank.
    explicit ThreadTeam(std::vector<Progress*> progress) noexcept
        : _progress(std::move(progress)) {}

    int size() const noexcept { return int(_progress.size()); }

    // Called by a member after it has stored, with release order or stronger, what member `rank` may wait for. Does not
    // block.
    void wake(int rank) noexcept { _progress[std::size_t(rank)]->doorbell().notify(); }

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
    std::mutex _mutex; // protects the states
    std::vector<std::pair<const void*, std::shared_ptr<void>>> _states;
};

} // namespace patchbay::coll
