// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/pset_definition.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::launch {

// The contents of the command line. None of it has been looked up on the machine yet.

using NameValue = std::pair<std::string, std::string>;

// One program of the job; `mpirun -n 2 a : -n 1 b` has two.
struct AppSpec {
    std::vector<std::string> argv;      // argv[0] as typed
    std::optional<int> ranks;           // nullopt: `slots`, or if there are none, the placement determines the number
    std::string working_directory;      // empty: that of mpirun
    std::string search_path;            // directories that come before PATH
    std::vector<NameValue> environment; // -x NAME=VALUE
    std::vector<std::string> psets;     // sets to which its ranks belong, beside those of the job
    std::int64_t slots = 0;             // of all its --host and --hostfile
};

enum class BindTo { unset, core, none };
constexpr BindTo highest_value(BindTo) noexcept {
    return BindTo::none;
}
enum class MapBy { slot, core, numa, socket, node };
constexpr MapBy highest_value(MapBy) noexcept {
    return MapBy::node;
}

struct JobSpec {
    std::vector<AppSpec> apps;
    std::vector<NameValue> parameters;  // --mca, in order, each name once
    std::vector<NameValue> environment; // --genv, until the programs have it
    std::vector<PsetDefinition> psets;  // --pset, in order, each name once
    BindTo bind_to = BindTo::unset;
    MapBy map_by = MapBy::slot;
    bool oversubscribe = true;
    std::optional<std::chrono::milliseconds> timeout;
    bool tag_output = false;
    std::string output_prefix; // empty: to mpirun's own stdout and stderr
    bool timing = false;
    bool go_on_after_failure = false; // a rank that fails does not end the others
};

} // namespace patchbay::launch
