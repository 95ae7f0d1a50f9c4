// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

class Instance;

// Prints a line with this process's counters (frameworks/cid/counters.h) to stderr, if parameter cid_stats is set.
void print_cid_stats(Instance& instance);

} // namespace patchbay
