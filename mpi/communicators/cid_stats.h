// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

class Instance;

// With parameter cid_stats: one line of this process's counters (frameworks/cid/counters.h) on stderr.
void print_cid_stats(Instance& instance);

} // namespace patchbay
