// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/thread_team.h"

namespace patchbay::coll::threads {

// The messages of one collective over several processes. Each process has a leader, which sends and receives for all
// its threads: the member with the lowest rank, or, in the process of the root, the root.
//
// A leader that has failed still sends and receives, so that the others get an error and do not wait for ever
// (transfer.h). The ops of reductions are predefined ones, which commute.
class Leaders {
public:
    static constexpr int no_root = -1;

    Leaders(Communicator& comm, Function function, const ThreadTeam& team, int root = no_root) noexcept
        : _steps(comm, function),
          _team(team),
          _root(root),
          _root_process(root == no_root ? 0 : team.process_of(root)),
          _size(int(team.leaders().size())),
          _own(team.process_of(comm.rank)) {}

    void fail(int code) noexcept { _steps.fail(code); }
    // The first error.
    int code() const noexcept { return _steps.code(); }

    void barrier() noexcept;
    // Receives the data of the root, unless this is the root, and starts to send it on, by a binomial tree.
    void bcast(void* buffer, MPI_Count count, const Datatype& type, Immediate::Batch& sends) noexcept;
    Immediate& steps() noexcept { return _steps; }
    // What every leader has in `result` is reduced to that of the root, by a binomial tree, or of all, by recursive
    // doubling. The others' is overwritten.
    void reduce(void* result, MPI_Count count, const Datatype& type, const Op& op) noexcept;
    void allreduce(void* result, MPI_Count count, const Datatype& type, const Op& op) noexcept;

private:
    int rank_of(int process) const noexcept {
        return process == _root_process && _root != no_root ? _root : _team.leaders()[std::size_t(process)];
    }
    int after(int distance) const noexcept { return rank_of((_own + distance) % _size); }
    int before(int distance) const noexcept { return rank_of((_own - distance + _size) % _size); }
    // The distance from the process of the root.
    int position() const noexcept { return (_own - _root_process + _size) % _size; }

    Immediate _steps;
    const ThreadTeam& _team;
    const int _root;
    const int _root_process;
    const int _size; // processes
    const int _own;  // process
};

} // namespace patchbay::coll::threads
