// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/partitioned_tags.h"

#include <cstdint>

namespace patchbay::chan {

// Tags of channels, below those of partitioned communication.

// The tag of proposals: the messages with which the sends of a communicator look for their receives. The tag of the
// program is in the message, so that the receiver can match it with MPI_ANY_TAG.
inline constexpr int proposal_tag = pml::partitioned_tag(pml::partitioned_tags - 1) - 1;

// Each binding has a number in each of its two processes, which is free again when the channel has ended. Messages to a
// process that belong to a binding have tags by its number there: those that set it up and end it, and those of the
// component.
inline constexpr int most_numbers = 1 << 20;
constexpr int setup_tag(int number) noexcept {
    return proposal_tag - 1 - number;
}
constexpr int component_tag(int number) noexcept {
    return setup_tag(most_numbers - 1) - 1 - number;
}
constexpr int number_of_component_tag(int tag) noexcept {
    return component_tag(0) - tag;
}
static_assert(std::int64_t(setup_tag(0)) - 2 * std::int64_t(most_numbers) + 1 >= INT32_MIN);

} // namespace patchbay::chan
