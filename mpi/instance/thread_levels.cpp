// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/thread_levels.h"

#include "include/mpi.h"

#include <algorithm>

namespace patchbay {

namespace {

constexpr struct {
    int level;
    const char* name;
} thread_levels[] = {
    {MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE"},
    {MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED"},
    {MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"},
    {MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"},
};

} // namespace

const char* thread_level_name(int level) noexcept {
    const auto found = std::find_if(
        std::begin(thread_levels), std::end(thread_levels), [level](const auto& one) { return one.level == level; });
    return found->name;
}

std::optional<int> thread_level_named(std::string_view name) noexcept {
    for (const auto& one : thread_levels) {
        if (name == one.name) {
            return one.level;
        }
    }
    return std::nullopt;
}

} // namespace patchbay
