// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/handle.h"
#include "object/process.h"
#include "object/session_id.h"

#include <span>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// An ordered set of processes; immutable. A run of consecutive ranks of one job (the world, one process) is kept as
// such and costs no memory per member.
class Group final : public Object {
public:
    // `self` is the calling process, so that rank() needs no search later.
    static Ref<Group> range(ProcessId first, int size, ProcessId self);
    static Ref<Group> list(std::vector<ProcessId> members, ProcessId self);
    // MPI_GROUP_EMPTY. Every operation whose result has no members answers this one object.
    static Ref<Group> empty() noexcept;
    static void destroy(Group*) noexcept;

    int size() const noexcept { return _size; }
    // The calling process's rank here, or MPI_UNDEFINED.
    int rank() const noexcept { return _rank; }
    ProcessId self() const noexcept { return _self; }
    // The member with that rank; 0 <= rank < size().
    ProcessId process(int rank) const noexcept {
        return _members.empty() ? ProcessId{_first.job, _first.rank + std::uint32_t(rank)}
                                : _members[std::size_t(rank)];
    }
    // Rank of a process, or MPI_UNDEFINED. O(1) for runs, O(log n) otherwise.
    int rank_of(ProcessId) const noexcept;
    // MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
    int compare(const Group&) const noexcept;

    // New groups (MPI-5.0, 7.3.2). Ranks are valid and distinct: the binding has checked them.
    Ref<Group> include(std::span<const int> ranks) const;
    Ref<Group> exclude(std::span<const int> ranks) const;
    static Ref<Group> unite(const Group&, const Group&);
    static Ref<Group> intersect(const Group&, const Group&);
    static Ref<Group> subtract(const Group&, const Group&);

    // The session it came from. Not owned; used only to detect mixing.
    SessionId session;

private:
    Group(ProcessId first, int size, std::vector<ProcessId> members, ProcessId self);
    ~Group() = default;

    friend struct Predefined<Group>;
    static Group* make_empty();
    Ref<Group> derived(Ref<Group> group) const noexcept; // with our session
    template <class Predicate>
    Ref<Group> keep_where(Predicate&& keep) const;

    int _size;
    int _rank;
    ProcessId _first; // of a run
    ProcessId _self;
    std::vector<ProcessId> _members;        // empty for a run
    std::vector<std::uint32_t> _by_process; // ranks sorted by process, for rank_of
};

} // namespace patchbay
