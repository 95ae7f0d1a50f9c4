// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/schedule.h"

namespace patchbay::coll::basic {

int BasicModule::plan(const Call& call, Schedule& schedule) noexcept {
    switch (call.function) {
    case Function::barrier:
        plan_barrier(schedule);
        break;
    case Function::bcast:
        plan_bcast(call, schedule);
        break;
    case Function::gather:
    case Function::gatherv:
        plan_gather(call, schedule);
        break;
    case Function::scatter:
    case Function::scatterv:
        plan_scatter(call, schedule);
        break;
    case Function::allgather:
    case Function::allgatherv:
        plan_allgather(call, schedule);
        break;
    case Function::alltoall:
    case Function::alltoallv:
    case Function::alltoallw:
        plan_alltoall(call, schedule);
        break;
    case Function::reduce:
    case Function::allreduce:
    case Function::scan:
    case Function::exscan:
        plan_reduction(call, schedule);
        break;
    case Function::reduce_scatter:
    case Function::reduce_scatter_block:
        plan_reduce_scatter(call, schedule);
        break;
    case Function::neighbor_allgather:
    case Function::neighbor_allgatherv:
    case Function::neighbor_alltoall:
    case Function::neighbor_alltoallv:
    case Function::neighbor_alltoallw:
        plan_neighborhood(call, schedule);
        break;
    default:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    schedule.may_repeat(*this);
    return MPI_SUCCESS;
}

} // namespace patchbay::coll::basic
