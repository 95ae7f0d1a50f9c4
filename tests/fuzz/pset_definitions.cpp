// SPDX-License-Identifier: BSD-3-Clause
// Process sets as users write them: the option of mpirun (one set) and the parameter (several).
#include "components/pset/static/static_sets.h"
#include "core/runtime/pset_definition.h"
#include "tests/fuzz/bytes.h"

using namespace patchbay;

namespace {

void check(const PsetDefinition& set) {
    REQUIRE(check_pset_name(set.name));
    REQUIRE(!set.ranks.empty());
    std::uint64_t least = 0; // the lowest rank that the next range may begin with
    std::uint64_t ranks = 0;
    std::string text;
    for (const RankRange& range : set.ranks) {
        REQUIRE(range.first >= least && range.first <= range.last);
        least = std::uint64_t(range.last) + 2;
        ranks += std::uint64_t(range.last) - range.first + 1;
        text += (text.empty() ? "" : ",") + std::to_string(range.first) + "-" + std::to_string(range.last);
    }
    REQUIRE(set.highest_rank() == set.ranks.back().last);
    auto again = parse_pset_definition(set.name + "=" + text);
    REQUIRE(again && again->name == set.name && again->ranks == set.ranks);
    if (set.highest_rank() < 10000) {
        const std::vector<std::uint32_t> all = set.list();
        REQUIRE(all.size() == ranks && all.back() == set.highest_rank());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    auto one = parse_pset_definition(text);
    if (one) {
        check(*one);
    } else {
        REQUIRE(!one.error().text.empty());
    }
    auto several = pset::parse_definitions(text);
    if (several) {
        for (const PsetDefinition& set : *several) {
            check(set);
        }
    } else {
        REQUIRE(!several.error().text.empty());
    }
    return 0;
}
