// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"

namespace patchbay::coll::basic {

// A binomial tree over the ranks relative to the root: each message travels whole, so counts and types may differ
// between ranks as long as the signatures agree (MPI-5.0, 6.4).
int BasicModule::bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    Transfer transfer(comm, tag_of(Function::bcast));
    const int size = comm.size;
    const int relative = (comm.rank - root + size) % size;
    int mask = 1;
    while (mask < size && (relative & mask) == 0) {
        mask <<= 1;
    }
    if (relative != 0) {
        transfer.recv(buffer, count, type, (comm.rank - mask + size) % size);
    }
    for (mask >>= 1; mask > 0; mask >>= 1) {
        if (relative + mask < size) {
            transfer.send(buffer, count, type, (comm.rank + mask) % size);
        }
    }
    return transfer.code();
}

} // namespace patchbay::coll::basic
