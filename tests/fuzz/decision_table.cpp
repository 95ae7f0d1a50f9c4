// SPDX-License-Identifier: BSD-3-Clause
// Decision tables of coll/tuned: JSON, and what the table makes of it. Behind a byte 1 the input is repeated, for a
// table that is nested deeply, or long.
#include "components/coll/tuned/table.h"
#include "tests/fuzz/bytes.h"

using namespace patchbay::coll::tuned;

namespace {

constexpr std::size_t longest = 500000;

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string file = "table.json";
    std::string text(reinterpret_cast<const char*>(data), size);
    if (size > 1 && data[0] == 1) {
        const std::string part = text.substr(1);
        for (text.clear(); text.size() < longest;) {
            text += part;
        }
    }
    auto table = Table::parse(text, file);
    if (!table) {
        REQUIRE(table.error().text.starts_with(file + ":"));
        return 0;
    }
    for (const Rule& rule : table->rules()) {
        REQUIRE(rule.least_ranks <= rule.most_ranks && rule.least_ranks >= 0);
        REQUIRE(has_algorithm(rule.function, rule.choice.algorithm));
        REQUIRE(!describe_conditions(rule).empty() && !describe_choice(rule.choice).empty());
        Decisions decisions;
        decisions.add(rule);
        for (const int ranks : {1, 2, 3, 8}) {
            (void)decisions.choose(rule.function, patchbay::coll::Form(0), ranks, 100, true);
        }
    }
    return 0;
}
