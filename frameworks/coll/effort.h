// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/call.h"
#include "object/effort.h"

#include <cstddef>
#include <limits>
#include <string>

namespace patchbay::coll {

// Bound messages take memory of the pml for as long as the operation exists, so that without a wish of the program
// there is a limit. The messages after these are made anew in each start, as those of nonblocking operations are.
inline constexpr std::size_t most_bound = 256;

// How many messages of an operation are bound.
constexpr std::size_t bound_messages(Effort effort) noexcept {
    return effort == Effort::plan ? 0 : (effort == Effort::bind ? most_bound : std::numeric_limits<std::size_t>::max());
}

// "MPI_Allreduce_init". Throws std::bad_alloc.
std::string init_name(Function function);

} // namespace patchbay::coll
