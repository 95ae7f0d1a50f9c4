// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/chan/selector.h"

#include <cstdint>

namespace patchbay {

class Instance;

// For which messages of operations channels are used, persistent collectives and partitioned requests: the values of
// parameters coll_channels and mpi_part_channels.
enum class ChannelUse : std::uint8_t {
    faster, // those of which a component says that it is faster than the pml
    all,
    none,
};

// The binding of a message of an operation, as components are asked about it: the numbers of the two sides, and so
// tag_here and tag_there, are not known yet.
chan::Binding binding_of_message(
    bool sends, void* buffer, MPI_Count count, const Datatype& type, int peer, int tag, Communicator& comm) noexcept;

// Leaves the candidates that carry the messages of this binding: all, or those that are faster for one of these
// kinds. Returns whether there are any.
bool keep_used(Instance& instance, ChannelUse use, chan::Faster faster, const chan::Binding& binding,
    chan::Selector::Candidates& candidates);

} // namespace patchbay
