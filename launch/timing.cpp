// SPDX-License-Identifier: BSD-3-Clause
#include "launch/timing.h"

#include <cstdio>

namespace patchbay::launch {

namespace {

struct Step {
    Moment from;
    Moment to;
    const char* name;
};

constexpr Step steps[] = {
    {Moment::begin, Moment::parsed, "parse the command line"},
    {Moment::parsed, Moment::forked, "fork the node daemon"},
    {Moment::forked, Moment::topology, "read the topology (hwloc)"},
    {Moment::topology, Moment::server, "start the PMIx server"},
    {Moment::server, Moment::registered, "register job and ranks"},
    {Moment::registered, Moment::spawned, "spawn all ranks"},
    {Moment::registered, Moment::first_connect, "until the first rank connects"},
    {Moment::registered, Moment::last_connect, "until the last rank connects"},
    {Moment::registered, Moment::first_ready, "until the first MPI_Init is done"},
    {Moment::registered, Moment::last_ready, "until the last MPI_Init is done"},
    {Moment::last_connect, Moment::first_finalize, "run, until the first rank finalizes"},
    {Moment::first_finalize, Moment::last_exit, "until the last rank has ended"},
    {Moment::last_exit, Moment::torn_down, "tear down"},
    {Moment::begin, Moment::torn_down, "total"},
};

} // namespace

void Timing::mark(Moment moment) {
    std::optional<Clock::time_point>& time = _times[static_cast<std::size_t>(moment)];
    if (!time || moment == Moment::last_connect || moment == Moment::last_ready || moment == Moment::last_exit) {
        time = Clock::now();
    }
}

std::string Timing::table() const {
    std::string text = "mpirun --timing: step                          ms    at ms\n";
    for (const Step& step : steps) {
        const auto& from = _times[static_cast<std::size_t>(step.from)];
        const auto& to = _times[static_cast<std::size_t>(step.to)];
        char line[96];
        if (from && to) {
            using Milliseconds = std::chrono::duration<double, std::milli>;
            const Clock::time_point begin = *_times[static_cast<std::size_t>(Moment::begin)];
            std::snprintf(line, sizeof line, "  %-38s %9.2f %8.2f\n", step.name, Milliseconds(*to - *from).count(),
                Milliseconds(*to - begin).count());
        } else {
            std::snprintf(line, sizeof line, "  %-38s %9s %8s\n", step.name, "-", "-");
        }
        text += line;
    }
    return text;
}

} // namespace patchbay::launch
