// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/job.h"

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::launch {

// An environment for a process that is yet to be started.
class Environment {
public:
    // The environment that mpirun was started with, without what another launcher (or another mpirun around this one)
    // put there for its own ranks.
    static Environment inherited();

    void set(std::string_view name, std::string_view value);
    // nullptr when not set.
    const char* get(std::string_view name) const;
    // Takes the entries of a malloc'ed, null-terminated array as PMIx hands them out, and frees it.
    void take(char** entries);

    // Null-terminated, for execve; valid until the next change.
    std::vector<char*> pointers() const;

private:
    std::vector<std::string> _entries; // NAME=VALUE
};

// Removes the same variables from this very process, so that the PMIx server library does not obey them.
void scrub_own_environment();

// Adds --mca parameters as variables and the list of their names, by which the library knows that they come from the
// command line.
void add_parameters(Environment& environment, const std::vector<NameValue>& parameters);

} // namespace patchbay::launch
