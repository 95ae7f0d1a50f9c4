// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace patchbay::launch {

// A PMIx namespace for a job or for a server, which no other process can guess: it has 128 random bits.
//
// PMIx 4.2.2 believes the user id that a process claims when it connects, so the namespace is what keeps other users of
// the machine out: a process that knows it and a rank is accepted as that rank. Therefore the namespace stands only
// where other users cannot read: in the environment of the ranks, in memory and in the connections of PMIx. It may not
// be written into a command line, the name or the contents of a file that others can read, or a line of output.
std::string make_namespace();

} // namespace patchbay::launch
