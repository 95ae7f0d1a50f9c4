// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/handle.h"
#include "object/process.h"
#include "object/session_id.h"

#include <span>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// An ordered set of processes; immutable. A group of consecutive ranks of one job (all processes, one process) is
// stored as a range and takes no memory per member.
class Group final : public Object {
public:
    // `self` is the calling process, so that rank() needs no search.
    static Ref<Group> range(ProcessId first, int size, ProcessId self);
    static Ref<Group> list(std::vector<ProcessId> members, ProcessId self);
    // MPI_GROUP_EMPTY. Every operation whose result has no members returns this object.
    static Ref<Group> empty() noexcept;
    static void destroy(Group*) noexcept;

    int size() const noexcept { return _size; }
    // The rank of the calling process in this group, or MPI_UNDEFINED.
    int rank() const noexcept { return _rank; }
    ProcessId self() const noexcept { return _self; }
    // The member with that rank; 0 <= rank < size().
    ProcessId process(int rank) const noexcept {
        return _members.empty() ? ProcessId{_first.job, _first.rank + std::uint32_t(rank), _first.thread}
                                : _members[std::size_t(rank)];
    }
    // Whether a member is of another job than the calling process. O(1).
    bool has_other_jobs() const noexcept { return _has_other_jobs; }
    // The rank of a process, or MPI_UNDEFINED. O(1) for ranges, O(log n) otherwise.
    int rank_of(ProcessId) const noexcept;
    // MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
    int compare(const Group&) const noexcept;

    // These construct new groups (MPI-5.0, 7.3.2). The binding has checked that the ranks are valid and distinct.
    Ref<Group> include(std::span<const int> ranks) const;
    Ref<Group> exclude(std::span<const int> ranks) const;
    static Ref<Group> unite(const Group&, const Group&);
    static Ref<Group> intersect(const Group&, const Group&);
    static Ref<Group> subtract(const Group&, const Group&);

    // The session that the group is derived from. Not owned; used only to detect objects of different sessions in one
    // call.
    SessionId session;

private:
    Group(ProcessId first, int size, std::vector<ProcessId> members, ProcessId self);
    ~Group() = default;

    friend struct Predefined<Group>;
    static Group* make_empty();
    Ref<Group> derived(Ref<Group> group) const noexcept; // sets its session to that of this group
    template <class Predicate>
    Ref<Group> keep_where(Predicate&& keep) const;

    int _size;
    int _rank;
    bool _has_other_jobs;
    ProcessId _first; // of a range
    ProcessId _self;
    std::vector<ProcessId> _members;        // empty for a range
    std::vector<std::uint32_t> _by_process; // ranks sorted by process, for rank_of
};

} // namespace patchbay
