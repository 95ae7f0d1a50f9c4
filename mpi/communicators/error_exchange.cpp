// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/error_exchange.h"

#include "mpi/bootstrap/exchange_reduction.h"
#include "mpi/communicators/intercommunicator_parts.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/communicators/parent_reduction.h"
#include "mpi/instance/instance.h"

#include <array>
#include <utility>
#include <vector>

namespace patchbay {

ErrorExchange::ErrorExchange(Communicator& comm, const Group& remote, std::string_view tag, std::uint32_t least)
    : _comm(comm) {
    const Group& local = *comm.group;
    if (remote.size() == 0 || local.has_other_jobs() || remote.has_other_jobs() ||
        Group::intersect(local, remote)->size() > 0) {
        return;
    }
    std::vector<ProcessId> processes{local.process(0), remote.process(0)};
    if (jobs_of(comm).precedes(processes[1], processes[0])) {
        std::swap(processes[0], processes[1]);
    }
    _pair = Group::list(std::move(processes), local.self());
    _key = next_operation_key(*comm.instance, *_pair, tag, "errors", least);
}

int ErrorExchange::run(int own) {
    ExchangeReduction reduction(_comm.instance->bootstrap(), _pair, std::move(_key));
    std::array<std::uint64_t, 1> words{std::uint64_t(own)};
    const int code = complete(_comm, reduction, words, cid::GroupReduction::Operation::maximum);
    return code != MPI_SUCCESS ? code : int(words[0]);
}

void ErrorExchange::withdraw() {
    const int rank = _pair->rank_of(_comm.group->process(0));
    ExchangeReduction(_comm.instance->bootstrap(), _pair, std::move(_key), rank).withdraw();
}

} // namespace patchbay
