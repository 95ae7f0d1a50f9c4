// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

struct RankRange {
    std::uint32_t first;
    std::uint32_t last; // included
    friend bool operator==(const RankRange&, const RankRange&) = default;
};

// A process set as a user writes it: "ocean=0-3,6".
struct PsetDefinition {
    std::string name;
    std::vector<RankRange> ranks; // ascending, with gaps between them, never empty

    std::uint32_t highest_rank() const noexcept { return ranks.back().last; }
    std::vector<std::uint32_t> list() const; // look at highest_rank() before
};

// Errc::invalid, with the cause as its text.
Result<PsetDefinition> parse_pset_definition(std::string_view text);

// Whether a user may give a set this name. Errc::invalid: it is empty, longer than PMIx can carry, has characters that
// lists of names need, or begins with a reserved prefix: mpi://, mpix://, mpirun://, pmix.
Status check_pset_name(std::string_view name);

} // namespace patchbay
