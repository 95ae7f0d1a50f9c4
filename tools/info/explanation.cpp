// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/explanation.h"

#include "mpi/communicators/communicators.h"
#include "mpi/library/library.h"

#include <utility>

namespace patchbay::info {

namespace {

// The two communicators that MPI_Init constructs; the end of the instance destroys them.
Status make_communicators(Instance& instance) {
    const Ref<Group> alone = Group::range(instance.self(), 1, instance.self());
    for (const PredefinedCommunicator* one : {&predefined_world, &predefined_self}) {
        Communicator* made = nullptr;
        if (make_predefined(instance, *one, alone, MPI_ERRORS_ARE_FATAL, &made) != MPI_SUCCESS) {
            return Error{Errc::not_available, std::string(one->name) + " could not be made"};
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
    // The decisions before a failure explain the failure.
    Explanation explanation{log.decisions(), library().core()->take_explanation(), made ? "" : made.error().text};
    log.enable(false);
    return explanation;
}

} // namespace patchbay::info
