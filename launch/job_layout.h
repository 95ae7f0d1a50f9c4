// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::launch {

// Not within JobLayout: clang takes a class with initialisers for one without a constructor until the class around it
// ends.
struct ParentProcess {
    std::string nspace;
    std::uint32_t rank = 0;
};

// The ranks of a job, as determined from the command line (or the arguments of PMIx_Spawn) and the machine.
struct JobLayout {
    struct App {
        int first_rank = 0;
        int size = 0;
        std::string command; // as typed, words separated by spaces
        std::string working_directory;
    };

    // A process set: one that the user has defined or that programs name, the ranks of one of several programs, or the
    // ranks that are bound to a part of the hardware. If a rank has spawned the job, other jobs do not know it.
    struct Pset {
        std::string name;
        std::vector<int> ranks; // ascending, at least one
        bool is_listed = true;  // otherwise found by its name only
    };

    std::string nspace;      // a secret (job_name.h)
    std::uint64_t nonce = 0; // distinguishes the job from all others, and is no secret (core/runtime/job_protocol.h)
    std::string hostname;
    std::vector<App> apps;
    std::vector<Pset> psets;
    int ranks = 0;
    int slots = 0;                       // the number of ranks that can run without sharing cores
    int universe = 0;                    // MPI_UNIVERSE_SIZE: slots, or ranks of all jobs if these are more
    int first_node_rank = 0;             // number of ranks that earlier jobs have on the node
    std::optional<ParentProcess> parent; // the rank that has spawned the job
    std::string parent_key;              // of its call of MPI_Comm_spawn (core/runtime/dynamic_protocol.h); else empty

    int app_of(int rank) const {
        int app = 0;
        while (rank >= apps[app].first_rank + apps[app].size) {
            ++app;
        }
        return app;
    }
};

} // namespace patchbay::launch
