// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/coll.h"

namespace patchbay::coll::basic {

// Which way a small rooted or barrier-like pattern goes.
enum class Pattern : std::uint8_t {
    automatic, // linear when the node has more ranks than cores, else a tree or doubling
    linear,    // each rank with rank 0: fewest context switches
    tree,      // binomial
    doubling,  // dissemination, recursive doubling: fewest rounds
};

struct Settings {
    Pattern barrier = Pattern::automatic;
    Pattern allreduce = Pattern::automatic;
    std::size_t ring_from = 0;   // bytes from which allreduce and allgather go round a ring
    bool oversubscribed = false; // more ranks than cores on this node
    int linear_up_to = 0;        // ranks up to which `automatic` may choose linear
};

// All functions over point-to-point: nothing clever, everything correct. Each algorithm is a template over
// the class of its steps: Immediate for the blocking function, Schedule for the plan.
class BasicModule final : public Module {
public:
    explicit BasicModule(const Settings& settings) noexcept
        : _settings(settings) {}

    Provided provides() const noexcept override {
        return Provided::planned(FunctionSet::chapter_6() | FunctionSet::neighborhood());
    }
    int plan(const Call& call, Schedule& schedule) noexcept override;
    int blocking(const Call& call, Communicator& comm) noexcept override;

    int barrier(Communicator&) noexcept override;
    int bcast(void*, MPI_Count, const Datatype&, int root, Communicator&) noexcept override;
    int gather(const void*, MPI_Count, const Datatype&, void*, MPI_Count, const Datatype&, int root,
        Communicator&) noexcept override;
    int gatherv(const void*, MPI_Count, const Datatype&, void*, CountArray, CountArray, const Datatype&, int root,
        Communicator&) noexcept override;
    int scatter(const void*, MPI_Count, const Datatype&, void*, MPI_Count, const Datatype&, int root,
        Communicator&) noexcept override;
    int scatterv(const void*, CountArray, CountArray, const Datatype&, void*, MPI_Count, const Datatype&, int root,
        Communicator&) noexcept override;
    int allgather(
        const void*, MPI_Count, const Datatype&, void*, MPI_Count, const Datatype&, Communicator&) noexcept override;
    int allgatherv(const void*, MPI_Count, const Datatype&, void*, CountArray, CountArray, const Datatype&,
        Communicator&) noexcept override;
    int alltoall(
        const void*, MPI_Count, const Datatype&, void*, MPI_Count, const Datatype&, Communicator&) noexcept override;
    int alltoallv(const void*, CountArray, CountArray, const Datatype&, void*, CountArray, CountArray, const Datatype&,
        Communicator&) noexcept override;
    int alltoallw(const void*, const TypedVector&, void*, const TypedVector&, Communicator&) noexcept override;
    int reduce(const void*, void*, MPI_Count, const Datatype&, const Op&, int root, Communicator&) noexcept override;
    int allreduce(const void*, void*, MPI_Count, const Datatype&, const Op&, Communicator&) noexcept override;
    int reduce_scatter(const void*, void*, CountArray, const Datatype&, const Op&, Communicator&) noexcept override;
    int reduce_scatter_block(
        const void*, void*, MPI_Count, const Datatype&, const Op&, Communicator&) noexcept override;
    int scan(const void*, void*, MPI_Count, const Datatype&, const Op&, Communicator&) noexcept override;
    int exscan(const void*, void*, MPI_Count, const Datatype&, const Op&, Communicator&) noexcept override;

private:
    void plan_barrier(Schedule&) const noexcept;
    void plan_bcast(const Call&, Schedule&) const noexcept;
    void plan_gather(const Call&, Schedule&) const noexcept;         // and gatherv
    void plan_scatter(const Call&, Schedule&) const noexcept;        // and scatterv
    void plan_allgather(const Call&, Schedule&) const noexcept;      // and allgatherv
    void plan_alltoall(const Call&, Schedule&) const noexcept;       // and alltoallv, alltoallw
    void plan_reduction(const Call&, Schedule&) const noexcept;      // reduce, allreduce, scan, exscan
    void plan_reduce_scatter(const Call&, Schedule&) const noexcept; // and reduce_scatter_block
    void plan_neighborhood(const Call&, Schedule&) const noexcept;   // all neighbourhood functions

    template <class Steps>
    void barrier_steps(Steps& steps) const noexcept;
    template <class Steps>
    void allreduce_steps(
        Steps& steps, const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op) const noexcept;
    bool prefers_linear(Pattern chosen, int size) const noexcept {
        return chosen == Pattern::linear ||
            (chosen == Pattern::automatic && _settings.oversubscribed && size <= _settings.linear_up_to);
    }
    Settings _settings;
};

} // namespace patchbay::coll::basic
