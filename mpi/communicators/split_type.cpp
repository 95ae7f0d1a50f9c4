// SPDX-License-Identifier: BSD-3-Clause
#include "core/core.h"
#include "core/memory/node_segment.h"
#include "core/runtime/hw_resources.h"
#include "core/runtime/runtime.h"
#include "frameworks/coll/coll.h"
#include "frameworks/pset/sets.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/split.h"
#include "mpi/instance/instance.h"

#include <algorithm>
#include <array>

namespace patchbay {

namespace {

constexpr char kind_key[] = "mpi_hw_resource_type";

// The colour of a resource consists of a number of its node and of that of the resource on the node.
std::int64_t color_of(std::uint32_t node, std::uint32_t resource) {
    constexpr std::uint32_t positive = 0x7fffffff;
    return std::int64_t(node & positive) << 32 | resource;
}

// The first process of the node. Processes of different mpirun share no memory although they are on one node, so that
// the node is another one for each.
std::uint32_t node_of(const Runtime& runtime) {
    return runtime.local_peers().front() ^ runtime.run_number();
}

// That of the node itself, whose processes share memory: also jobs of one mpirun do not where each has a segment of its
// own.
std::int64_t shared_color(Instance& instance) {
    const Runtime& runtime = instance.runtime();
    const NodeSegment* segment = instance.core().node;
    const bool is_for_own_job = segment != nullptr && !segment->is_for_all_jobs();
    const std::uint64_t job = is_for_own_job ? runtime.jobs().nonce_of(own_job) : 0;
    return color_of(node_of(runtime) ^ std::uint32_t(job ^ job >> 32), 0);
}

std::int64_t resource_color(Instance& instance, std::string_view kind) {
    if (kind.ends_with(HwResources::node_kind)) { // with or without "hwloc://"
        return shared_color(instance);
    }
    const auto resource = instance.hw_resources().confined_to(kind);
    return resource ? color_of(node_of(instance.runtime()), *resource) : no_color;
}

// MPI_COMM_TYPE_HW_GUIDED: if the kind of hardware is not supported, there is no new communicator (MPI-5.0, 7.4.2).
std::int64_t guided_color(Instance& instance, const Info* info) {
    const auto kind = info != nullptr ? info->get(kind_key) : std::nullopt;
    return kind && HwResources::knows(*kind) ? resource_color(instance, *kind) : no_color;
}

// MPI_COMM_TYPE_RESOURCE_GUIDED: a kind of hardware, or one of the two process sets that every job has.
std::int64_t resource_guided_color(Communicator& parent, const Info* info) {
    const auto pset = info != nullptr ? info->get("mpi_pset_name") : std::nullopt;
    if (!pset) {
        return guided_color(*parent.instance, info);
    }
    const std::string_view name = pset::spelt_properly(*pset);
    const JobTable& jobs = parent.instance->runtime().jobs();
    if (name == pset::world_name) {
        return std::int64_t(jobs.nonce_of(own_job) >> 1); // each job has a set of this name
    }
    // The two groups of an intercommunicator have the same ranks.
    const bool is_second = parent.is_inter && jobs.precedes(parent.remote_group->process(0), parent.group->process(0));
    return name == pset::self_name ? std::int64_t(parent.rank) * 2 + is_second : no_color;
}

constexpr std::size_t most_levels = 8;
using Levels = std::array<std::int64_t, most_levels>;

// The colours of the resources that this process is bound to, from the node down to the smallest kind of hardware.
Levels own_levels(Instance& instance) {
    Levels levels;
    levels.fill(no_color);
    levels[0] = shared_color(instance);
    const auto kinds = HwResources::kinds();
    for (std::size_t i = 0; i < kinds.size() && i + 1 < levels.size(); ++i) {
        levels[i + 1] = resource_color(instance, kinds[i]);
    }
    return levels;
}

// Appends the levels of all processes of the remote group to `all`; on an intracommunicator that group has all members.
int gather_levels(Communicator& among, const Levels& mine, std::vector<Levels>* all) {
    const std::size_t before = all->size();
    all->resize(before + std::size_t(among.remote_size));
    const Datatype& type = *to_object<Datatype>(MPI_INT64_T);
    return (*among.coll)[coll::Function::allgather].allgather(
        mine.data(), most_levels, type, all->data() + before, most_levels, type, among);
}

// The name of the kind of hardware of a level, which is a value for MPI_COMM_TYPE_HW_GUIDED.
std::string_view kind_of_level(std::size_t level) {
    return level == 0 ? HwResources::node_kind : HwResources::kinds()[level - 1];
}

// Determines the largest kind of hardware in which the members differ (of both groups of an intercommunicator), and the
// colour of this process's resource of that kind. If there is no such kind, the colour is no_color. Collective.
int unguided_color(Communicator& among, std::int64_t* color, std::string_view* kind) {
    const Levels mine = own_levels(*among.instance);
    std::vector<Levels> all;
    int code = gather_levels(among, mine, &all);
    if (code == MPI_SUCCESS && among.is_inter) {
        code = gather_levels(*among.local_comm, mine, &all);
    }
    *color = no_color;
    for (std::size_t level = 0; code == MPI_SUCCESS && level < most_levels; ++level) {
        const std::int64_t first = all.front()[level];
        if (!std::all_of(all.begin(), all.end(), [&](const Levels& l) { return l[level] == first; })) {
            *color = mine[level];
            *kind = kind_of_level(level);
            break;
        }
    }
    return code;
}

// MPI_COMM_TYPE_HW_UNGUIDED. Members that have passed MPI_UNDEFINED cannot take part in the comparison of the hardware,
// because they do not know which type the others have passed; so the others compare it on a communicator of their own.
// The kind of hardware is set in the info of the new communicator, and in `info`, as the standard requires (MPI-5.0,
// 7.4.2).
int split_unguided(Communicator& parent, int key, Info* info, Communicator** made) {
    Communicator* among = nullptr;
    *made = nullptr;
    int code = split_by_color(parent, 0, key, info, &among);
    if (code != MPI_SUCCESS || among == nullptr) { // null: in one of two groups, all have passed MPI_UNDEFINED
        return code;
    }
    std::int64_t color = no_color;
    std::string_view kind;
    code = unguided_color(*among, &color, &kind);
    if (code == MPI_SUCCESS) {
        const Ref<Info> with_kind = info != nullptr ? info->duplicate() : Ref<Info>::adopt(new Info);
        with_kind->set(kind_key, kind);
        code = split_by_color(*among, color, 0, with_kind.get(), made);
    }
    free_communicator(*among);
    if (*made != nullptr && info != nullptr && !info->is_predefined()) {
        info->set(kind_key, kind);
    }
    return code;
}

} // namespace

int split_by_type(Communicator& parent, int type, int key, Info* info, Communicator** made) {
    Instance& instance = *parent.instance;
    std::int64_t color = no_color;
    switch (type) {
    case MPI_COMM_TYPE_SHARED:
        color = shared_color(instance);
        break;
    case MPI_COMM_TYPE_HW_GUIDED:
        color = guided_color(instance, info);
        break;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        color = resource_guided_color(parent, info);
        break;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        return split_unguided(parent, key, info, made);
    default: // MPI_UNDEFINED
        break;
    }
    return split_by_color(parent, color, key, info, made);
}

} // namespace patchbay
