// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/pset_definition.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::launch {

// What the user asked for, as the command line says it. Nothing in here has been looked up on the machine yet.

using NameValue = std::pair<std::string, std::string>;

// One program of the job; `mpirun -n 2 a : -n 1 b` has two.
struct AppSpec {
    std::vector<std::string> argv;      // argv[0] as typed
    std::optional<int> ranks;           // missing: Placement decides
    std::string working_directory;      // empty: ours
    std::string search_path;            // directories that come before PATH
    std::vector<NameValue> environment; // -x NAME=VALUE
};

enum class BindTo { unset, core, none };
enum class MapBy { slot, core, numa, socket, node };

struct JobSpec {
    std::vector<AppSpec> apps;
    std::vector<NameValue> parameters; // --mca, in order, each name once
    std::vector<PsetDefinition> psets; // --pset, in order, each name once
    BindTo bind_to = BindTo::unset;
    MapBy map_by = MapBy::slot;
    bool oversubscribe = true;
    std::optional<std::chrono::milliseconds> timeout;
    bool tag_output = false;
    std::string output_prefix; // empty: to mpirun's own stdout and stderr
    bool timing = false;
};

} // namespace patchbay::launch
