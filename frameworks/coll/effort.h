// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/call.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace patchbay::coll {

// How hard the initialization of a persistent collective works: the value of info key `patchbay_effort`.
enum class Effort : std::uint8_t {
    plan,     // plans the schedule
    bind,     // and binds its first messages, as many as `most_bound`; this is the default
    bind_all, // and binds all of them
    time,     // and times the module's candidates on the program's buffers, and keeps the fastest
};

// Bound messages take memory of the pml for as long as the operation exists, so that without a wish of the program
// there is a limit. The messages after these are made anew in each start, as those of nonblocking operations are.
inline constexpr std::size_t most_bound = 256;

// How many messages of an operation are bound.
constexpr std::size_t bound_messages(Effort effort) noexcept {
    return effort == Effort::plan ? 0 : (effort == Effort::bind ? most_bound : std::numeric_limits<std::size_t>::max());
}

// The value that stands for an effort; nullopt: none does.
std::optional<Effort> parse_effort(const std::string& value) noexcept;
// "MPI_Allreduce_init". Throws std::bad_alloc.
std::string init_name(Function function);

} // namespace patchbay::coll
