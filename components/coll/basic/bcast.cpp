// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"

namespace patchbay::coll::basic {

namespace {

// A binomial tree over the ranks relative to the root: each message travels whole, so counts and types may differ
// between ranks as long as the signatures agree (MPI-5.0, 6.4).
template <class Steps>
void tree(Steps& steps, void* buffer, MPI_Count count, const Datatype& type, int root) noexcept {
    const int rank = steps.comm().rank;
    const int size = steps.comm().size;
    const int relative = (rank - root + size) % size;
    int mask = 1;
    while (mask < size && (relative & mask) == 0) {
        mask <<= 1;
    }
    if (relative != 0) {
        steps.recv(buffer, count, type, (rank - mask + size) % size);
        steps.round();
    }
    for (mask >>= 1; mask > 0; mask >>= 1) {
        if (relative + mask < size) {
            steps.send(buffer, count, type, (rank + mask) % size);
        }
    }
}

} // namespace

int BasicModule::bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    Immediate steps(comm, Function::bcast);
    tree(steps, buffer, count, type, root);
    return steps.code();
}

void BasicModule::plan_bcast(const Call& call, Schedule& schedule) const noexcept {
    tree(schedule, call.recv, call.recv_count, *call.recv_type, call.root);
}

} // namespace patchbay::coll::basic
