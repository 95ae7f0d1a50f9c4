// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/target_check.h"

#include "mpi/check/finding.h"
#include "object/window.h"

#include <algorithm>
#include <fmt/core.h>

namespace patchbay::check {

namespace {

bool may_overlap(const TargetAccess& a, const TargetAccess& b) noexcept {
    if (a.kind == AccessKind::read || a.kind != b.kind) {
        return a.kind == AccessKind::read && b.kind == AccessKind::read;
    }
    return a.kind == AccessKind::update && a.element == b.element;
}

} // namespace

std::string TargetCheck::text(int rank, const TargetAccess& access) const {
    return fmt::format("{} {} rank {} on {} at {}", access.function, access.kind == AccessKind::read ? "from" : "to",
        rank, _window.describe(), access.site.text());
}

const TargetAccess* TargetCheck::find_conflict(const Accesses& accesses, const TargetAccess& access,
    std::uintptr_t begin, std::uintptr_t end, std::size_t* shared) const {
    const std::uintptr_t lowest = begin > accesses.longest ? begin - accesses.longest : 0;
    for (auto other = accesses.by_begin.lower_bound(lowest); other != accesses.by_begin.end() && other->first < end;
         ++other) {
        if (!may_overlap(access, other->second)) {
            *shared = shared_bytes(access.range, other->second.range);
            if (*shared > 0) {
                return &other->second;
            }
        }
    }
    return nullptr;
}

void TargetCheck::add(int rank, TargetAccess access) {
    std::uintptr_t begin, end;
    if (!access.range.bounds(&begin, &end)) {
        return;
    }
    const std::lock_guard lock(_mutex);
    Accesses& accesses = _accesses[rank];
    std::size_t shared = 0;
    if (const TargetAccess* other = find_conflict(accesses, access, begin, end, &shared)) {
        print_finding("windows",
            fmt::format("{}: {} {} of the target's memory {} accessed by {} in the same epoch, with no flush between "
                        "the calls: the result is not defined. Complete the first operation before (MPI_Win_flush), "
                        "or let both be accumulates of the same type",
                text(rank, access), shared, shared == 1 ? "byte" : "bytes", shared == 1 ? "is" : "are",
                text(rank, *other)));
    }
    accesses.longest = std::max(accesses.longest, end - begin);
    accesses.by_begin.emplace(begin, std::move(access));
}

void TargetCheck::complete(int rank) noexcept {
    const std::lock_guard lock(_mutex);
    if (const auto found = _accesses.find(rank); found != _accesses.end()) {
        _accesses.erase(found);
    }
}

void TargetCheck::complete_all() noexcept {
    const std::lock_guard lock(_mutex);
    _accesses.clear();
}

void TargetCheck::complete_fetches(int rank) noexcept {
    const std::lock_guard lock(_mutex);
    if (const auto found = _accesses.find(rank); found != _accesses.end()) {
        found->second.remove_fetches();
    }
}

void TargetCheck::complete_all_fetches() noexcept {
    const std::lock_guard lock(_mutex);
    for (auto& [rank, accesses] : _accesses) {
        accesses.remove_fetches();
    }
}

} // namespace patchbay::check
