// SPDX-License-Identifier: BSD-3-Clause
// Groups (MPI-5.0, 7.3). Local.
#include "core/base/out_of_memory.h"
#include "mpi/api/args.h"
#include "mpi/api/handles.h"
#include "object/error_cause.h"

#include <fmt/core.h>

#include <vector>

namespace patchbay::api {

namespace {

Group& group_of(MPI_Group handle) noexcept {
    return *to_object<Group>(handle);
}

// Checks that `ranks` are ranks of the group, and that none of them appears twice.
bool check_ranks(const Group& group, std::span<const int> ranks, std::string* problem) {
    std::vector<bool> seen(std::size_t(group.size()), false);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const int rank = ranks[i];
        if (rank < 0 || rank >= group.size()) {
            *problem = fmt::format("rank number {} is {}, but the group has {} processes", i, rank, group.size());
            return false;
        }
        if (seen[std::size_t(rank)]) {
            *problem = fmt::format("rank {} appears twice", rank);
            return false;
        }
        seen[std::size_t(rank)] = true;
    }
    return true;
}

// Implements MPI_Group_incl and MPI_Group_excl, and the range forms after their ranges have been expanded. Returns a
// code that the caller reports. Throws std::bad_alloc.
int choose(const Arguments& args, const Group& group, std::span<const int> ranks, bool keep, MPI_Group* newgroup) {
    std::string problem;
    if (checking() && !check_ranks(group, ranks, &problem)) {
        return note_cause(MPI_ERR_RANK, problem);
    }
    return give_handle(args, keep ? group.include(ranks) : group.exclude(ranks), newgroup);
}

int choose(const char* function, MPI_Group group, int n, const int* ranks, bool keep, MPI_Group* newgroup) {
    Arguments args(function, group);
    if (checking() &&
        !(args.group("group", group) && args.require(n >= 0, MPI_ERR_ARG, "n", n, "must not be negative") &&
            args.array("ranks", ranks, n) && args.pointer("newgroup", newgroup))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        return choose(args, group_of(group), {ranks, std::size_t(n)}, keep, newgroup);
    }));
}

// Expands ranges (first, last, stride) to lists of ranks. Each range has at least its first rank.
int expand(const Group& group, int n, int ranges[][3], std::vector<int>* ranks, std::string* problem) {
    for (int i = 0; i < n; ++i) {
        const auto [first, last, stride] = ranges[i];
        if (stride == 0 || (stride > 0 ? first > last : first < last)) {
            *problem = fmt::format(
                "range number {} ({}, {}, {}) does not lead from its first to its last rank", i, first, last, stride);
            return MPI_ERR_ARG;
        }
        for (long rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) {
            if (rank < 0 || rank >= group.size()) {
                *problem = fmt::format("range number {} ({}, {}, {}) contains rank {}, but the group has {} processes",
                    i, first, last, stride, rank, group.size());
                return MPI_ERR_RANK;
            }
            ranks->push_back(int(rank));
        }
    }
    return MPI_SUCCESS;
}

int choose_ranges(const char* function, MPI_Group group, int n, int ranges[][3], bool keep, MPI_Group* newgroup) {
    Arguments args(function, group);
    if (checking() &&
        !(args.group("group", group) && args.require(n >= 0, MPI_ERR_ARG, "n", n, "must not be negative") &&
            args.array("ranges", ranges, n) && args.pointer("newgroup", newgroup))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        std::vector<int> ranks;
        std::string problem;
        if (const int code = expand(group_of(group), n, ranges, &ranks, &problem); code != MPI_SUCCESS) {
            return note_cause(code, problem);
        }
        return choose(args, group_of(group), ranks, keep, newgroup);
    }));
}

using SetOperation = Ref<Group> (*)(const Group&, const Group&);

int combine(const char* function, MPI_Group group1, MPI_Group group2, SetOperation operation, MPI_Group* newgroup) {
    Arguments args(function, group1);
    if (checking() &&
        !(args.group("group1", group1) && args.group("group2", group2) &&
            args.same_session(group_of(group1), group_of(group2)) && args.pointer("newgroup", newgroup))) {
        return args.code();
    }
    return args.result(unless_out_of_memory(
        MPI_ERR_NO_MEM, [&] { return give_handle(args, operation(group_of(group1), group_of(group2)), newgroup); }));
}

} // namespace

} // namespace patchbay::api

using namespace patchbay;

int PMPI_Group_size(MPI_Group group, int* size) {
    api::Arguments args("MPI_Group_size", group);
    if (api::checking() && !(args.group("group", group) && args.pointer("size", size))) {
        return args.code();
    }
    *size = api::group_of(group).size();
    return MPI_SUCCESS;
}

int PMPI_Group_rank(MPI_Group group, int* rank) {
    api::Arguments args("MPI_Group_rank", group);
    if (api::checking() && !(args.group("group", group) && args.pointer("rank", rank))) {
        return args.code();
    }
    *rank = api::group_of(group).rank();
    return MPI_SUCCESS;
}

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
    api::Arguments args("MPI_Group_translate_ranks", group1);
    if (api::checking() &&
        !(args.group("group1", group1) && args.group("group2", group2) &&
            args.same_session(api::group_of(group1), api::group_of(group2)) &&
            args.require(n >= 0, MPI_ERR_ARG, "n", n, "must not be negative") && args.array("ranks1", ranks1, n) &&
            args.array("ranks2", ranks2, n))) {
        return args.code();
    }
    const Group& from = api::group_of(group1);
    const Group& to = api::group_of(group2);
    for (int i = 0; i < n; ++i) {
        if (ranks1[i] == MPI_PROC_NULL) {
            ranks2[i] = MPI_PROC_NULL;
            continue;
        }
        if (api::checking() &&
            !args.require(ranks1[i] >= 0 && ranks1[i] < from.size(), MPI_ERR_RANK, "an element of ranks1", ranks1[i],
                "must be a rank of group1 or MPI_PROC_NULL")) {
            return args.code();
        }
        ranks2[i] = to.rank_of(from.process(ranks1[i]));
    }
    return MPI_SUCCESS;
}

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
    api::Arguments args("MPI_Group_compare", group1);
    if (api::checking() &&
        !(args.group("group1", group1) && args.group("group2", group2) &&
            args.same_session(api::group_of(group1), api::group_of(group2)) && args.pointer("result", result))) {
        return args.code();
    }
    *result = api::group_of(group1).compare(api::group_of(group2));
    return MPI_SUCCESS;
}

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
    return api::combine("MPI_Group_union", group1, group2, &Group::unite, newgroup);
}

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
    return api::combine("MPI_Group_intersection", group1, group2, &Group::intersect, newgroup);
}

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
    return api::combine("MPI_Group_difference", group1, group2, &Group::subtract, newgroup);
}

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
    return api::choose("MPI_Group_incl", group, n, ranks, true, newgroup);
}

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
    return api::choose("MPI_Group_excl", group, n, ranks, false, newgroup);
}

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
    return api::choose_ranges("MPI_Group_range_incl", group, n, ranges, true, newgroup);
}

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
    return api::choose_ranges("MPI_Group_range_excl", group, n, ranges, false, newgroup);
}

int PMPI_Group_free(MPI_Group* group) {
    api::Arguments args("MPI_Group_free", group != nullptr ? *group : MPI_GROUP_NULL);
    if (api::checking() && !(args.pointer("group", group) && args.group("group", *group))) {
        return args.code();
    }
    api::note_freed(*group);
    Ref<Group>::adopt(to_object<Group>(*group)).reset();
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}
