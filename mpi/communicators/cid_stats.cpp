// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/cid_stats.h"

#include "core/runtime/runtime.h"
#include "mpi/instance/instance.h"

#include <cstdio>
#include <fmt/core.h>

namespace patchbay {

void print_cid_stats(Instance& instance) {
    if (!instance.core().params.at("cid_stats").as_bool()) {
        return;
    }
    const cid::Counters& counters = instance.cid_counters();
    const std::string line =
        fmt::format("cid: rank {}: {} communicators, {} rounds, {} PGCIDs, {} derived, {} extended headers, "
                    "{} CID acknowledgements\n",
            instance.runtime().rank(), counters.communicators.value(), counters.rounds.value(), counters.pgcids.value(),
            counters.children.value(), counters.extended_headers.value(), counters.acknowledgements.value());
    std::fputs(line.c_str(), stderr); // in one call, because other processes write to stderr too
}

} // namespace patchbay
