// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/threads/group.h"
#include "components/coll/threads/reduction.h"
#include "frameworks/coll/coll.h"

namespace patchbay::coll::threads {

// Blocking collectives of communicators whose ranks are threads of several processes: the threads of a process
// exchange their data through its memory, and one of them, its leader, exchanges messages with the leaders of the
// others (leaders.h). One object for each member.
class ProcessesModule final : public Module {
public:
    ProcessesModule(
        std::shared_ptr<Group> group, std::shared_ptr<ThreadTeam> team, int place, const Below& below) noexcept
        : _team(team),
          _place(std::move(group), std::move(team), place),
          _below(below) {}

    Provided provides() const noexcept override {
        return Provided::only_blocking({Function::barrier, Function::bcast, Function::reduce, Function::allreduce});
    }
    int barrier(Communicator& comm) noexcept override;
    int bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept override;
    int reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
        Communicator& comm) noexcept override;
    int allreduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op,
        Communicator& comm) noexcept override;
    void blocking_failed(const Call& call, Communicator& comm, int code) noexcept override;

private:
    bool is_alone() const noexcept { return _place.size() == 1; }
    // The place of the leader of this process, in a collective with that root.
    int leader_for(int root) const noexcept { return std::max(0, _team->place_of(root)); }
    void reduction_failed(const Call& call, Communicator& comm, int code) noexcept;
    int contribute(const Operand& operand, int leader, Progress& progress) noexcept;
    int collect(const Operand& operand, void* result, Progress& progress) noexcept;
    // `failed`: MPI_SUCCESS, or the error of this leader, whose buffer is not touched then.
    int bcast_as_leader(
        int failed, void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept;
    int reduce_as_leader(const Operand& operand, void* result, const Op& op, int root, Communicator& comm) noexcept;

    const std::shared_ptr<ThreadTeam> _team;
    Place _place; // among the threads of the process
    const Below& _below;
};

} // namespace patchbay::coll::threads
