// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/threads/several_processes.h"

#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "object/error_cause.h"
#include "object/handle.h"

#include <algorithm>
#include <cstring>

namespace patchbay::coll::threads {

int ProcessesModule::barrier(Communicator& comm) noexcept {
    Progress& progress = *comm.progress;
    gather(progress);
    const int code = _place.rank() == 0 ? synchronize_leaders(comm) : MPI_SUCCESS;
    return release(code, progress);
}

// A step for whose end the leader alone waits.
void ProcessesModule::gather(Progress& progress) noexcept {
    if (_place.size() == 1) {
        return;
    }
    _place.arrive(progress);
    if (_place.rank() == 0) {
        _place.wait_for_all(progress);
    }
}

// Dissemination: after round k, a leader knows of the 2^k leaders before it.
int ProcessesModule::synchronize_leaders(Communicator& comm) const noexcept {
    const std::vector<int>& leaders = _team->leaders();
    const int count = int(leaders.size());
    const int own = int(std::lower_bound(leaders.begin(), leaders.end(), comm.rank) - leaders.begin());
    const Datatype& type = *to_object<Datatype>(MPI_BYTE);
    Transfer transfer(comm, tag_of(Function::barrier));
    for (int distance = 1; distance < count; distance *= 2) {
        const int next = leaders[std::size_t((own + distance) % count)];
        const int previous = leaders[std::size_t((own - distance + count) % count)];
        transfer.exchange(nullptr, 0, type, next, nullptr, 0, type, previous);
    }
    return transfer.code();
}

// A step in which the others wait for the leader, whose slot has the result.
int ProcessesModule::release(int code, Progress& progress) noexcept {
    if (_place.size() == 1) {
        return code;
    }
    Slot& own = _place.begin(progress);
    own.by_address = false;
    own.bytes = sizeof code;
    std::memcpy(own.data, &code, sizeof code);
    _place.show(_place.rank() == 0);
    if (_place.rank() == 0) {
        return code;
    }
    const Slot& of_leader = _place.wait_for(0, progress);
    std::memcpy(&code, of_leader.data, sizeof code);
    return code == MPI_SUCCESS
        ? code
        : note_cause(code, "a thread of this process has failed in the barrier between the processes");
}

} // namespace patchbay::coll::threads
