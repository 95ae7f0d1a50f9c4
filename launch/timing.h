// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace patchbay::launch {

// The moments of a run, in chronological order.
enum class Moment {
    begin,          // of main()
    parsed,         // command line
    forked,         // node daemon
    topology,       // read
    server,         // PMIx_server_init is done
    registered,     // the server has the data of job and ranks
    spawned,        // the last rank's program runs
    first_connect,  // first rank in PMIx_Init
    last_connect,   // last rank in PMIx_Init
    first_ready,    // first rank has done MPI_Init, or opened a session
    last_ready,     // last rank has
    first_finalize, // first rank in PMIx_Finalize
    last_exit,      // last rank's process has ended
    torn_down,      // output written, no process left
    count
};

class Timing {
public:
    using Clock = std::chrono::steady_clock;

    // Only the first time counts, except for last_connect, last_ready and last_exit.
    void mark(Moment moment);

    // The table that --timing prints, one line per step, in milliseconds. Ranks that do not use MPI are never ready.
    std::string table() const;

private:
    std::array<std::optional<Clock::time_point>, static_cast<std::size_t>(Moment::count)> _times;
};

} // namespace patchbay::launch
