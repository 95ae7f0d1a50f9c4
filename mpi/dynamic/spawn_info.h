// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/dynamic/spawn.h"

#include <optional>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

// Translates the arguments for one program and the reserved keys of its info (MPI-5.0, 11.8.4): arch, file, host,
// mpi_initial_errhandler, path, soft, wdir; and of our own `env` (NAME=VALUE, separated by newlines, as Open MPI has
// it), `np` (the number of processes) and `psets` (names of process sets, separated by commas). Other keys are ignored.
// `hostname` is that of this machine. After an error *problem says why. Returns an MPI code.
int describe(const SpawnArguments& arguments, const std::string& hostname, SpawnProgram* program, std::string* problem);

// The largest number up to `maxprocs` in a set of numbers that is written as Fortran's triplets "a:b:c", separated by
// commas; 0: the set has none. nullopt: the text is no such set.
std::optional<int> largest_allowed(std::string_view soft, int maxprocs);

} // namespace patchbay
