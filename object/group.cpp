// SPDX-License-Identifier: BSD-3-Clause
#include "object/group.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace patchbay {

namespace {

// Whether the members are consecutive ranks of one job, so that the first one and the number of members suffice.
bool is_run(const std::vector<ProcessId>& members) noexcept {
    for (std::size_t i = 1; i < members.size(); ++i) {
        if (members[i].job != members[0].job || members[i].thread != members[0].thread ||
            members[i].rank != members[0].rank + i) {
            return false;
        }
    }
    return true;
}

// The calling process. MPI_GROUP_EMPTY does not contain it, so that the other operand may provide it.
ProcessId self_of(const Group& a, const Group& b) noexcept {
    return a.size() > 0 ? a.self() : b.self();
}

} // namespace

Group::Group(ProcessId first, int size, std::vector<ProcessId> members, ProcessId self)
    : Object(ObjectKind::group),
      _size(size),
      _rank(MPI_UNDEFINED),
      _first(first),
      _self(self),
      _members(std::move(members)) {
    if (!_members.empty()) {
        _by_process.resize(_members.size());
        std::iota(_by_process.begin(), _by_process.end(), 0u);
        std::sort(_by_process.begin(), _by_process.end(),
            [this](std::uint32_t a, std::uint32_t b) { return _members[a] < _members[b]; });
    }
    _rank = rank_of(self);
    _has_other_jobs = _members.empty()
        ? _size > 0 && _first.job != own_job
        : std::ranges::any_of(_members, [](ProcessId member) { return member.job != own_job; });
}

Ref<Group> Group::range(ProcessId first, int size, ProcessId self) {
    return size == 0 ? empty() : Ref<Group>::adopt(new Group(first, size, {}, self));
}

Ref<Group> Group::list(std::vector<ProcessId> members, ProcessId self) {
    if (members.empty()) {
        return empty();
    }
    if (is_run(members)) {
        return range(members[0], int(members.size()), self);
    }
    const int size = int(members.size());
    return Ref<Group>::adopt(new Group({}, size, std::move(members), self));
}

void Group::destroy(Group* group) noexcept {
    if (!group->is_predefined()) {
        delete group;
    }
}

int Group::rank_of(ProcessId process) const noexcept {
    if (_members.empty()) {
        const bool inside = process.job == _first.job && process.thread == _first.thread &&
            process.rank >= _first.rank && process.rank - _first.rank < std::uint32_t(_size);
        return inside ? int(process.rank - _first.rank) : MPI_UNDEFINED;
    }
    const auto found = std::lower_bound(_by_process.begin(), _by_process.end(), process,
        [this](std::uint32_t i, ProcessId wanted) { return _members[i] < wanted; });
    return found != _by_process.end() && _members[*found] == process ? int(*found) : MPI_UNDEFINED;
}

int Group::compare(const Group& other) const noexcept {
    if (this == &other) {
        return MPI_IDENT;
    }
    if (_size != other._size) {
        return MPI_UNEQUAL;
    }
    bool same_order = true;
    for (int rank = 0; rank < _size; ++rank) {
        if (process(rank) == other.process(rank)) {
            continue;
        }
        same_order = false;
        if (other.rank_of(process(rank)) == MPI_UNDEFINED) {
            return MPI_UNEQUAL;
        }
    }
    return same_order ? MPI_IDENT : MPI_SIMILAR;
}

Ref<Group> Group::include(std::span<const int> ranks) const {
    std::vector<ProcessId> members;
    members.reserve(ranks.size());
    for (const int rank : ranks) {
        members.push_back(process(rank));
    }
    return derived(list(std::move(members), _self));
}

Ref<Group> Group::exclude(std::span<const int> ranks) const {
    std::vector<bool> out(std::size_t(_size), false);
    for (const int rank : ranks) {
        out[std::size_t(rank)] = true;
    }
    return keep_where([&out](int rank) { return !out[std::size_t(rank)]; });
}

Ref<Group> Group::unite(const Group& a, const Group& b) {
    std::vector<ProcessId> members;
    members.reserve(std::size_t(a._size) + std::size_t(b._size));
    for (int rank = 0; rank < a._size; ++rank) {
        members.push_back(a.process(rank));
    }
    for (int rank = 0; rank < b._size; ++rank) {
        if (a.rank_of(b.process(rank)) == MPI_UNDEFINED) {
            members.push_back(b.process(rank));
        }
    }
    Ref<Group> result = list(std::move(members), self_of(a, b));
    return (a._size > 0 ? a : b).derived(std::move(result));
}

Ref<Group> Group::intersect(const Group& a, const Group& b) {
    return a.keep_where([&a, &b](int rank) { return b.rank_of(a.process(rank)) != MPI_UNDEFINED; });
}

Ref<Group> Group::subtract(const Group& a, const Group& b) {
    return a.keep_where([&a, &b](int rank) { return b.rank_of(a.process(rank)) == MPI_UNDEFINED; });
}

template <class Predicate>
Ref<Group> Group::keep_where(Predicate&& keep) const {
    std::vector<ProcessId> members;
    for (int rank = 0; rank < _size; ++rank) {
        if (keep(rank)) {
            members.push_back(process(rank));
        }
    }
    return derived(list(std::move(members), _self));
}

Ref<Group> Group::derived(Ref<Group> group) const noexcept {
    if (!group->is_predefined()) {
        group->session = session;
    }
    return group;
}

Ref<Group> Group::empty() noexcept {
    return Ref<Group>::share(Predefined<Group>::table[1]);
}

// MPI_GROUP_EMPTY is constructed when the library is loaded and is never destroyed, because its handle is always valid.
Group* Group::make_empty() {
    auto* group = new Group({}, 0, {}, {});
    group->set_predefined(reinterpret_cast<std::uintptr_t>(MPI_GROUP_EMPTY));
    return group;
}

template <>
Group* Predefined<Group>::table[HandleTraits<Group>::count] = {nullptr, Group::make_empty()};

} // namespace patchbay
