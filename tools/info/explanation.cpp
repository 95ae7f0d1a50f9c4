// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/explanation.h"

#include "mpi/instance/communicators.h"
#include "mpi/instance/library.h"

#include <utility>

namespace patchbay::info {

namespace {

// The same two that MPI_Init makes; they go with the instance.
Status make_communicators(Instance& instance) {
    const PredefinedCommunicator all[] = {
        {"MPI_COMM_WORLD", MPI_COMM_WORLD, 0, MPI_ERRORS_ARE_FATAL},
        {"MPI_COMM_SELF", MPI_COMM_SELF, 1, MPI_ERRORS_ARE_FATAL},
    };
    for (const PredefinedCommunicator& one : all) {
        Communicator* made = nullptr;
        if (make_predefined(instance, one, Group::range(instance.self(), 1, instance.self()), &made) != MPI_SUCCESS) {
            return Error{Errc::not_available, std::string(one.name) + " could not be made"};
        }
    }
    return {};
}

} // namespace

Explanation explain() {
    DecisionLog& log = library().core()->decisions;
    log.enable(true);
    auto lease = library().acquire(MPI_THREAD_SINGLE);
    const Status made = lease ? make_communicators(lease->instance()) : Status(lease.error());
    // Whatever was decided until something failed explains the failure.
    Explanation explanation{log.decisions(), library().core()->take_explanation(), made ? "" : made.error().text};
    log.enable(false);
    return explanation;
}

} // namespace patchbay::info
