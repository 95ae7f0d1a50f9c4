// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/threads/group.h"
#include "frameworks/coll/coll.h"

namespace patchbay::coll::threads {

// Blocking collectives of communicators whose ranks are threads of several processes: the threads of a process
// synchronize through its memory, and the first of them, its leader, exchanges messages with the leaders of the others.
// One object for each member.
class ProcessesModule final : public Module {
public:
    ProcessesModule(std::shared_ptr<Group> group, std::shared_ptr<ThreadTeam> team, int place) noexcept
        : _team(team),
          _place(std::move(group), std::move(team), place) {}

    Provided provides() const noexcept override { return Provided::only_blocking({Function::barrier}); }
    int barrier(Communicator& comm) noexcept override;

private:
    void gather(Progress& progress) noexcept;
    int synchronize_leaders(Communicator& comm) const noexcept;
    int release(int code, Progress& progress) noexcept;

    const std::shared_ptr<ThreadTeam> _team;
    Place _place; // among the threads of the process
};

} // namespace patchbay::coll::threads
