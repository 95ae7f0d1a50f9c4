// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace [[gnu::visibility("default")]] patchbay {

enum class ParamType : std::uint8_t { boolean, integer, size, duration, string, enumeration, list };

// The three audiences of MPI_T (MPI-5.0, 15.3), each with basic, detail, all.
enum class ParamLevel : std::uint8_t {
    user_basic = 1,
    user_detail,
    user_all,
    tuner_basic,
    tuner_detail,
    tuner_all,
    dev_basic,
    dev_detail,
    dev_all,
};

// MPI_T scopes: in which processes the value may change, and in which it must be equal.
enum class ParamScope : std::uint8_t { constant, read_only, local, group, group_equal, all, all_equal };

// One row of a component's parameter table: plain data, so that it can stand in a plugin's descriptor.
// `name` is the part after `<framework>_<component>_`.
struct ParamSpec {
    const char* name;
    ParamType type;
    const char* default_value; // written as a user would write it: "4KiB", "true", "10us"
    const char* help;          // one sentence, unit included
    // enumeration: comma-separated names; integer, size and duration: "lowest..highest", written as the default value,
    // of which either may be left out; of another type, or where every value is allowed: nullptr
    const char* allowed = nullptr;
    ParamLevel level = ParamLevel::user_basic;
    ParamScope scope = ParamScope::all_equal;
};

} // namespace patchbay
