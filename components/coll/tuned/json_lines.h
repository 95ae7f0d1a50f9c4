// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::coll::tuned {

struct JsonMember;

// A JSON value that knows its line, so that an error in what it says can be reported with it.
struct JsonValue {
    enum class Kind : std::uint8_t { null, boolean, number, text, array, object };
    Kind kind = Kind::null;
    int line = 0;             // in which it ends; of an array or object: in which it begins
    bool boolean = false;     // the value
    std::uint64_t number = 0; // a number that is not negative and has no fraction
    std::string text;
    std::vector<JsonValue> items;    // of an array
    std::vector<JsonMember> members; // of an object, in their order
};

struct JsonMember {
    std::string name;
    JsonValue value;
};

// Errc::invalid: the text is no JSON, has a number that is negative or has a fraction, or is nested more than 100
// levels deep; "FILE:LINE: ...".
Result<JsonValue> parse_json(std::string_view text, const std::string& file);

} // namespace patchbay::coll::tuned
