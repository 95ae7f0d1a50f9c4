// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace patchbay::launch {

// The ranks of the job, as determined from the command line and the machine.
struct JobLayout {
    struct App {
        int first_rank;
        int size;
        std::string command; // as typed, words separated by spaces
        std::string working_directory;
    };

    // A process set: one that the user has defined, the ranks of one of several programs, or the ranks that are bound
    // to a part of the hardware.
    struct Pset {
        std::string name;
        std::vector<int> ranks; // ascending, at least one
        bool is_listed = true;  // otherwise found by its name only
    };

    std::string nspace; // a secret (job_name.h)
    std::string hostname;
    std::vector<App> apps;
    std::vector<Pset> psets;
    int ranks = 0;
    int slots = 0; // the number of ranks that can run without sharing cores

    int app_of(int rank) const {
        int app = 0;
        while (rank >= apps[app].first_rank + apps[app].size) {
            ++app;
        }
        return app;
    }
};

// Notifications from the PMIx server about the ranks, called in the event loop's thread.
class RankEvents {
public:
    virtual ~RankEvents() = default;
    virtual void connected(int rank) = 0; // in PMIx_Init
    virtual void finalized(int rank) = 0; // in PMIx_Finalize
    virtual void ready(
        int rank) = 0; // has finished its first MPI_Init; only with --timing (core/runtime/ready_protocol.h)
    // The rank is in PMIx_Abort, which returns when `done` is called.
    virtual void aborted(int rank, int status, const std::string& message, std::function<void()> done) = 0;
};

} // namespace patchbay::launch
