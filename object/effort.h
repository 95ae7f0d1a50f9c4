// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/log.h"

#include <cstdint>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

class Info;

// How hard the initialization of a persistent operation works: the value of info key `patchbay_effort`
// (docs/parameters.md). Partitioned communication distinguishes the first one and the others only.
enum class Effort : std::uint8_t {
    plan,     // plans the schedule
    bind,     // and binds its first messages, as many as the operation's limit says; this is the default
    bind_all, // and binds all of them
    time,     // and times the module's candidates on the program's buffers, and keeps the fastest
};

// Reads the info key. Thread-safe.
class EffortKey {
public:
    // The effort that the info of a call asks for. nullptr: no info. A value that is none is ignored (MPI-5.0, 10), and
    // reported with the function, "MPI_Allreduce_init", by the first such call.
    Effort read(const Info* info, std::string_view function) noexcept;

private:
    LogOnce _ill_value;
};

} // namespace patchbay
