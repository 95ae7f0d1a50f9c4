// SPDX-License-Identifier: BSD-3-Clause
// Numbers, sizes, durations, lists and selections: what is accepted is what its own text says again.
#include "core/base/strings.h"
#include "core/component/selection_list.h"
#include "tests/fuzz/bytes.h"

#include <algorithm>

using namespace patchbay;

namespace {

void check_numbers(std::string_view text) {
    if (auto number = parse_int(text); number) {
        auto again = parse_int(std::to_string(*number));
        REQUIRE(again && *again == *number);
    }
    if (auto size = parse_size(text); size) {
        REQUIRE(*size <= std::uint64_t(INT64_MAX));
        auto again = parse_size(format_size(*size));
        REQUIRE(again && *again == *size);
    }
    if (auto duration = parse_duration(text); duration) {
        REQUIRE(duration->count() >= 0);
        auto again = parse_duration(format_duration(*duration));
        // A number is read as a double, which has 53 bits.
        const std::int64_t allowed = duration->count() >> 52;
        REQUIRE(again && std::abs(again->count() - duration->count()) <= allowed);
    }
    (void)bool(parse_bool(text));
}

void check_lists(std::string_view text) {
    const std::vector<std::string> parts = split(text, ',');
    for (const std::string& part : parts) {
        REQUIRE(!part.empty() && trim(part) == part && part.find(',') == std::string::npos);
    }
    REQUIRE(split(join(parts, ","), ',') == parts);
    auto list = SelectionList::parse(text);
    if (list) {
        for (const std::string& name : list->names()) {
            REQUIRE(list->admits(name) != list->excludes());
            REQUIRE(list->asks_for(name) != list->excludes());
        }
    }
}

void check_names(std::string_view text) {
    static const std::vector<std::string> known{"basic", "tuned", "mask", "consensus", "excid"};
    const std::string near = nearest_name(text.substr(0, 64), known);
    REQUIRE(near.empty() || std::find(known.begin(), known.end(), near) != known.end());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_numbers(text);
    check_lists(text);
    check_names(text);
    return 0;
}
