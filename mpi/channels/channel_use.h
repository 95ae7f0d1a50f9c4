// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/chan/selector.h"

#include <cstdint>

namespace patchbay {

class Instance;

// For which messages of operations channels are used: the values of parameters coll_channels and mpi_part_channels.
enum class ChannelUse : std::uint8_t {
    faster, // those of which a component says that it is faster than the pml
    all,
    none,
};

// Leaves the candidates that carry the messages of this binding: all, or those that are faster for one of these
// kinds. Returns whether there are any.
bool keep_used(Instance& instance, ChannelUse use, chan::Faster faster, const chan::Binding& binding,
    chan::Selector::Candidates& candidates);

} // namespace patchbay
