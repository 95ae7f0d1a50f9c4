// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/runtime.h"
#include "frameworks/coll/coll.h"
#include "frameworks/pset/sets.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/split.h"
#include "mpi/instance/hw_resources.h"
#include "mpi/instance/instance.h"

#include <algorithm>
#include <array>

namespace patchbay {

namespace {

constexpr char kind_key[] = "mpi_hw_resource_type";

// Every node is known by its first process in the job; within it every resource of a kind by its number.
std::int64_t color_of(const Runtime& runtime, std::uint32_t resource) {
    const std::uint32_t node = runtime.local_peers().front();
    return std::int64_t(node) << 32 | resource;
}

std::int64_t resource_color(Instance& instance, std::string_view kind) {
    const auto resource = instance.hw_resources().confined_to(kind);
    return resource ? color_of(instance.runtime(), *resource) : no_color;
}

// MPI_COMM_TYPE_HW_GUIDED: without a kind that we know there is no communicator (MPI-5.0, 7.4.2).
std::int64_t guided_color(Instance& instance, const Info* info) {
    const auto kind = info != nullptr ? info->get(kind_key) : std::nullopt;
    return kind && HwResources::knows(*kind) ? resource_color(instance, *kind) : no_color;
}

// MPI_COMM_TYPE_RESOURCE_GUIDED: hardware, or a process set. The two sets that every job has need no asking.
std::int64_t resource_guided_color(Communicator& parent, const Info* info) {
    const auto pset = info != nullptr ? info->get("mpi_pset_name") : std::nullopt;
    if (!pset) {
        return guided_color(*parent.instance, info);
    }
    const std::string_view name = pset::spelt_properly(*pset);
    if (name == pset::world_name) {
        return 0;
    }
    // Not the rank: the other group of an intercommunicator has such a one, too.
    const ProcessId self = parent.group->self();
    return name == pset::self_name ? std::int64_t(self.job) << 32 | self.rank : no_color;
}

constexpr std::size_t most_levels = 8;
using Levels = std::array<std::int64_t, most_levels>;

// Where this process is, from the node down to the smallest kind of hardware.
Levels own_levels(Instance& instance) {
    Levels levels;
    levels.fill(no_color);
    levels[0] = color_of(instance.runtime(), 0);
    const auto kinds = HwResources::kinds();
    for (std::size_t i = 0; i < kinds.size() && i + 1 < levels.size(); ++i) {
        levels[i + 1] = resource_color(instance, kinds[i]);
    }
    return levels;
}

// Everybody's in the remote group, which is that of all members of an intracommunicator; behind what `all` has.
int gather_levels(Communicator& among, const Levels& mine, std::vector<Levels>* all) {
    const std::size_t before = all->size();
    all->resize(before + std::size_t(among.remote_size));
    const Datatype& type = *to_object<Datatype>(MPI_INT64_T);
    return (*among.coll)[coll::Function::allgather].allgather(
        mine.data(), most_levels, type, all->data() + before, most_levels, type, among);
}

// What a level stands for, as MPI_COMM_TYPE_HW_GUIDED takes it.
std::string_view kind_of_level(std::size_t level) {
    return level == 0 ? HwResources::node_kind : HwResources::kinds()[level - 1];
}

// The largest kind of hardware by which the members differ, those of both groups of an intercommunicator taken
// together, and there this process's own; without such a kind the colour is no_color. Collective.
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

// MPI_COMM_TYPE_HW_UNGUIDED. Members that passed MPI_UNDEFINED do not know that the others compare their hardware, so
// these do it among themselves. The info of the new communicator names the kind of hardware, and so does `info`
// afterwards, where the standard has it (MPI-5.0, 7.4.2).
int split_unguided(Communicator& parent, int key, Info* info, Communicator** made) {
    Communicator* among = nullptr;
    *made = nullptr;
    int code = split_by_color(parent, 0, key, info, &among);
    if (code != MPI_SUCCESS || among == nullptr) { // of two groups, one has nobody who takes part
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
        color = color_of(instance.runtime(), 0);
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
