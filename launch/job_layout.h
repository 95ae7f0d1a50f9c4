// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace patchbay::launch {

// Which ranks there are: what the command line asked for, settled against the machine.
struct JobLayout {
    struct App {
        int first_rank;
        int size;
        std::string command; // as typed, words separated by spaces
        std::string working_directory;
    };

    // A set of ranks with a name: what the user defined, each program of several, and the places that ranks are bound
    // to.
    struct Pset {
        std::string name;
        std::vector<int> ranks; // ascending, at least one
        bool is_listed = true;  // otherwise found by its name only
    };

    std::string nspace;
    std::string hostname;
    std::vector<App> apps;
    std::vector<Pset> psets;
    int ranks = 0;
    int slots = 0; // ranks that this machine has room for without sharing cores

    int app_of(int rank) const {
        int app = 0;
        while (rank >= apps[app].first_rank + apps[app].size) {
            ++app;
        }
        return app;
    }
};

// What the PMIx server learns about the ranks. Called in the loop's thread.
class RankEvents {
public:
    virtual ~RankEvents() = default;
    virtual void connected(int rank) = 0; // in PMIx_Init
    virtual void finalized(int rank) = 0; // in PMIx_Finalize
    virtual void ready(
        int rank) = 0; // has done its first MPI_Init; only when asked for (core/runtime/ready_protocol.h)
    // In PMIx_Abort, which it leaves when `done` is called.
    virtual void aborted(int rank, int status, const std::string& message, std::function<void()> done) = 0;
};

} // namespace patchbay::launch
