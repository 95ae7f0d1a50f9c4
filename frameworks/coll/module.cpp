// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/coll.h"

namespace patchbay::coll {

const char* function_name(Function f) noexcept {
    static constexpr const char* names[] = {
        "barrier",
        "bcast",
        "gather",
        "gatherv",
        "scatter",
        "scatterv",
        "allgather",
        "allgatherv",
        "alltoall",
        "alltoallv",
        "alltoallw",
        "reduce",
        "allreduce",
        "reduce_scatter",
        "reduce_scatter_block",
        "scan",
        "exscan",
    };
    static_assert(std::size(names) == function_count);
    return names[std::size_t(f)];
}

// A module overrides what it provides; the rest is never called.

int Module::barrier(Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::bcast(void*, MPI_Count, const Datatype&, int, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::gather(
    const void*, MPI_Count, const Datatype&, void*, MPI_Count, const Datatype&, int, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::gatherv(const void*, MPI_Count, const Datatype&, void*, CountArray, CountArray, const Datatype&, int,
    Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::scatter(
    const void*, MPI_Count, const Datatype&, void*, MPI_Count, const Datatype&, int, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::scatterv(const void*, CountArray, CountArray, const Datatype&, void*, MPI_Count, const Datatype&, int,
    Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::allgather(
    const void*, MPI_Count, const Datatype&, void*, MPI_Count, const Datatype&, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::allgatherv(
    const void*, MPI_Count, const Datatype&, void*, CountArray, CountArray, const Datatype&, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::alltoall(
    const void*, MPI_Count, const Datatype&, void*, MPI_Count, const Datatype&, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::alltoallv(const void*, CountArray, CountArray, const Datatype&, void*, CountArray, CountArray,
    const Datatype&, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::alltoallw(const void*, const TypedVector&, void*, const TypedVector&, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::reduce(const void*, void*, MPI_Count, const Datatype&, const Op&, int, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::allreduce(const void*, void*, MPI_Count, const Datatype&, const Op&, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::reduce_scatter(const void*, void*, CountArray, const Datatype&, const Op&, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::reduce_scatter_block(const void*, void*, MPI_Count, const Datatype&, const Op&, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::scan(const void*, void*, MPI_Count, const Datatype&, const Op&, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
int Module::exscan(const void*, void*, MPI_Count, const Datatype&, const Op&, Communicator&) noexcept {
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

} // namespace patchbay::coll
