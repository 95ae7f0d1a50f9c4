// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/threads/group.h"
#include "frameworks/coll/coll.h"

namespace patchbay::coll::threads {

// Blocking collectives of the threads of one process, by their shared memory. One object for each member.
class ThreadModule final : public Module {
public:
    ThreadModule(std::shared_ptr<Group> group, std::shared_ptr<ThreadTeam> team, int rank, const Below& below) noexcept
        : _place(std::move(group), std::move(team), rank),
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
    Place _place;
    const Below& _below;
};

} // namespace patchbay::coll::threads
