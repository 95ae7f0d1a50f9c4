// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/lifetime/cleanup_stack.h"
#include "mpi/check/buffer_check.h"
#include "mpi/check/checks.h"
#include "mpi/instance/instance.h"

namespace patchbay {

// Initializes an instance in steps. Each step pushes its clean-up callback onto the stack, so that running the stack
// undoes a complete or partial initialization.
class InstanceBuilder {
public:
    InstanceBuilder(Instance& instance, CleanupStack& cleanup) noexcept
        : _instance(instance),
          _cleanup(cleanup),
          _requested(instance.thread_level()) {}
    Status build();

private:
    Status define_params();
    Status start_runtime();
    Status start_progress();
    Status attach_node();
    Status choose_pml();
    Status choose_pml_that(Capability can);
    Status prepare_cid();
    Status prepare_osc();
    Status prepare_chan();
    Status open_coll();
    Status make_psets();
    Status open_bootstrap();
    Status watch_peers();
    // Opens a framework until the instance is destroyed.
    Status open(FrameworkBase& framework);
    void hold(Lease lease);
    Capability needed() const noexcept;

    void switch_checks_on();

    Instance& _instance;
    check::Checks _checks;
    std::shared_ptr<check::BufferCheck> _buffers; // of messages and collectives; set with the pml
    CleanupStack& _cleanup;
    int _requested; // thread level: that of the first user, lowered where the components do not provide it
};

} // namespace patchbay
