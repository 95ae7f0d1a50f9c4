// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/lifetime/cleanup_stack.h"
#include "mpi/instance/instance.h"

namespace patchbay {

// Brings an instance up, step by step; each step pushes what takes it back. Failing anywhere leaves nothing behind once
// the stack has run.
class InstanceBuilder {
public:
    InstanceBuilder(Instance& instance, CleanupStack& cleanup) noexcept
        : _instance(instance),
          _cleanup(cleanup),
          _asked(instance.thread_level()) {}
    Status build();

private:
    Status define_params();
    Status start_runtime();
    Status start_progress();
    Status attach_node();
    Status choose_pml();
    Status choose_pml_that(Capability can);
    Status open_cid();
    Status open_coll();
    Status make_psets();
    Status open_bootstrap();
    // Opens a framework for the life of the instance.
    Status open(FrameworkBase& framework);
    void hold(Lease lease);
    Capability needed() const noexcept;

    Instance& _instance;
    CleanupStack& _cleanup;
    int _asked; // the thread level that the first user wants
};

} // namespace patchbay
