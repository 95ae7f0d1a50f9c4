// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/datatype.h"

#include <cstdint>
#include <span>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// A datatype as a sequence of words for another process, which constructs an equal type from it: the recipes of the
// type and of its components (object/recipe.h), each once. One-sided communication sends the datatypes of the target
// in this form. Both processes must have the same predefined types, that is, be of one release and architecture.

// How deep the constructors of a described type may be nested, where each dimension of an array type counts as some.
// Without a limit a description that another process has made could exhaust the stack.
inline constexpr std::uint32_t deepest_description = 1000;

// Appends the description of `type`. MPI_ERR_TYPE: it is nested too deeply; MPI_ERR_NO_MEM. The caller gets the text by
// note_cause(). The type need not be committed.
int describe_type(const Datatype& type, std::vector<std::int64_t>* words) noexcept;

// Constructs the type, committed. `words` may be anything: MPI_ERR_TYPE where they are no description, or one that the
// constructors of MPI would refuse. Also MPI_ERR_VALUE_TOO_LARGE and MPI_ERR_NO_MEM.
int construct_described_type(std::span<const std::int64_t> words, Ref<Datatype>* result) noexcept;

} // namespace patchbay
