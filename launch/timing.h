// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace patchbay::launch {

// The moments of a run, in the order in which they come.
enum class Moment {
    begin,          // of main()
    parsed,         // command line
    forked,         // launcher process
    topology,       // read
    server,         // PMIx_server_init is done
    registered,     // job and ranks are known to the server
    spawned,        // the last rank's program runs
    first_connect,  // first rank in PMIx_Init
    last_connect,   // last rank in PMIx_Init
    first_ready,    // first rank has done MPI_Init, or opened a session
    last_ready,     // last rank has
    first_finalize, // first rank in PMIx_Finalize
    last_exit,      // last rank's process has ended
    torn_down,      // output written, nothing left
    count
};

class Timing {
public:
    using Clock = std::chrono::steady_clock;

    // Only the first time counts, except for last_connect, last_ready and last_exit.
    void mark(Moment moment);

    // The table that --timing prints, a line per step, in milliseconds. Ranks that know no MPI never are ready.
    std::string table() const;

private:
    std::array<std::optional<Clock::time_point>, static_cast<std::size_t>(Moment::count)> _times;
};

} // namespace patchbay::launch
