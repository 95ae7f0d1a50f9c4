// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/job.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::launch {

// An environment for a process that is yet to be started.
class Environment {
public:
    // The environment with which mpirun was started, without the variables that another launcher (or another mpirun
    // that has started this one) has set for its own ranks.
    static Environment inherited();
    Environment() = default;
    explicit Environment(std::vector<std::string> entries)
        : _entries(std::move(entries)) {}

    void set(std::string_view name, std::string_view value);
    // nullptr when not set.
    const char* get(std::string_view name) const;
    // Takes the entries of a malloc'ed, null-terminated array as PMIx hands them out, and frees it.
    void take(char** entries);

    const std::vector<std::string>& entries() const { return _entries; }

    // Whether a variable marks a process as a rank of a launcher, under its own name or its hidden one.
    static bool belongs_to_a_launcher(std::string_view name);

    // Null-terminated, for execve; valid until the next change.
    std::vector<char*> pointers() const;

private:
    std::vector<std::string> _entries; // NAME=VALUE
};

// Removes the same variables from this process, so that the PMIx server library does not use them.
void scrub_own_environment();

// Adds --mca parameters as variables, and the list of their names, from which the library determines that they come
// from the command line.
void add_parameters(Environment& environment, const std::vector<NameValue>& parameters);

} // namespace patchbay::launch
