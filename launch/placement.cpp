// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement.h"

#include "core/base/random.h"
#include "core/base/strings.h"
#include "launch/job_name.h"
#include "launch/program_search.h"

#include <climits>
#include <limits>
#include <map>
#include <numeric>
#include <unistd.h>

namespace patchbay::launch {

namespace {

// An app without a number of ranks gets all cores if it is the only one, and otherwise one.
int ranks_of(const AppSpec& app, const JobSpec& job, int cores) {
    return app.ranks.value_or(job.apps.size() == 1 ? cores : 1);
}

JobLayout layout_of(const JobSpec& job, const std::string& hostname, int cores) {
    JobLayout layout;
    layout.nspace = make_namespace();
    layout.nonce = random_bits();
    layout.hostname = hostname;
    layout.slots = cores;
    for (const AppSpec& app : job.apps) {
        int ranks = ranks_of(app, job, cores);
        layout.apps.push_back({layout.ranks, ranks, join(app.argv, " "), absolute(app.working_directory)});
        layout.ranks += ranks;
    }
    return layout;
}

Status add_users_psets(const JobSpec& job, JobLayout& layout) {
    for (const PsetDefinition& pset : job.psets) {
        if (pset.highest_rank() >= static_cast<std::uint32_t>(layout.ranks)) {
            return Error{Errc::invalid,
                "option --pset: the process set '" + pset.name + "' has rank " + std::to_string(pset.highest_rank()) +
                    ", but the job has the ranks 0 to " + std::to_string(layout.ranks - 1)};
        }
        const std::vector<std::uint32_t> ranks = pset.list();
        layout.psets.push_back({pset.name, {ranks.begin(), ranks.end()}});
    }
    return {};
}

// One process set for each of several programs.
void add_psets_of_apps(JobLayout& layout) {
    for (std::size_t app = 0; app < layout.apps.size() && layout.apps.size() > 1; ++app) {
        std::vector<int> ranks(static_cast<std::size_t>(layout.apps[app].size));
        std::iota(ranks.begin(), ranks.end(), layout.apps[app].first_rank);
        layout.psets.push_back({"mpirun://app/" + std::to_string(app), std::move(ranks)});
    }
}

// The sets that programs name: one of that name has the ranks of all these programs.
Status add_named_psets_of_apps(const JobSpec& job, JobLayout& layout) {
    std::map<std::string_view, std::vector<int>> sets;
    for (std::size_t app = 0; app < job.apps.size(); ++app) {
        const auto& [first, size, command, directory] = layout.apps[app];
        for (const std::string& name : job.apps[app].psets) {
            if (Status usable = check_pset_name(name); !usable) {
                return usable;
            }
            std::vector<int>& ranks = sets[name];
            if (ranks.empty() || ranks.back() < first) { // otherwise the program names it twice
                ranks.resize(ranks.size() + static_cast<std::size_t>(size));
                std::iota(ranks.end() - size, ranks.end(), first);
            }
        }
    }
    for (auto& [name, ranks] : sets) {
        layout.psets.push_back({std::string(name), std::move(ranks)});
    }
    return {};
}

bool is_within(const cpu_set_t& cpus, const cpu_set_t& place) {
    cpu_set_t both;
    CPU_AND(&both, &cpus, &place);
    return CPU_EQUAL(&both, &cpus);
}

} // namespace

std::string host_name() {
    char name[HOST_NAME_MAX + 1] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

Status check_number_of_ranks(std::int64_t ranks) {
    constexpr std::int64_t most = std::int64_t(std::numeric_limits<std::uint16_t>::max()) + 1;
    if (ranks > most) {
        return Error{Errc::out_of_memory,
            std::to_string(ranks) + " ranks are more than a node can have: " + std::to_string(most)};
    }
    return {};
}

Result<JobLayout> lay_out(const JobSpec& job, const std::string& hostname, int cores) {
    std::int64_t ranks = 0;
    for (const AppSpec& app : job.apps) {
        ranks += ranks_of(app, job, cores);
    }
    if (Status possible = check_number_of_ranks(ranks); !possible) {
        return possible.error();
    }
    JobLayout layout = layout_of(job, hostname, cores);
    if (!job.oversubscribe && layout.ranks > cores) {
        return Error{Errc::invalid,
            std::to_string(layout.ranks) + " ranks on " + std::to_string(cores) +
                " cores, and --no-oversubscribe forbids that"};
    }
    if (Status psets = add_users_psets(job, layout); !psets) {
        return psets.error();
    }
    if (Status psets = add_named_psets_of_apps(job, layout); !psets) {
        return psets.error();
    }
    add_psets_of_apps(layout);
    return layout;
}

BindTo binding_of(const JobSpec& job, const JobLayout& layout) {
    if (job.bind_to != BindTo::unset) {
        return job.bind_to;
    }
    return layout.ranks <= layout.slots ? BindTo::core : BindTo::none;
}

std::vector<std::optional<cpu_set_t>> bind_ranks(
    const JobLayout& layout, BindTo bind_to, MapBy map_by, const Topology& topology) {
    std::vector<std::optional<cpu_set_t>> cpus(static_cast<std::size_t>(layout.ranks));
    if (bind_to == BindTo::core) {
        const std::vector<cpu_set_t> order = topology.cores_in_order(map_by);
        for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
            cpus[rank] = order[rank % order.size()];
        }
    }
    return cpus;
}

// A rank that is not bound may run wherever mpirun may.
void add_psets_of_places(
    JobLayout& layout, const std::vector<std::optional<cpu_set_t>>& cpus, const Topology& topology) {
    const cpu_set_t everywhere = topology.all_cpus();
    for (const Topology::Place& place : topology.places()) {
        JobLayout::Pset pset{place.set, {}, place.is_listed};
        for (int rank = 0; rank < layout.ranks; ++rank) {
            if (is_within(cpus[static_cast<std::size_t>(rank)].value_or(everywhere), place.cpus)) {
                pset.ranks.push_back(rank);
            }
        }
        if (!pset.ranks.empty()) {
            layout.psets.push_back(std::move(pset));
        }
    }
}

} // namespace patchbay::launch
