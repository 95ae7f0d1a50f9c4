// SPDX-License-Identifier: BSD-3-Clause
#include "launch/placement.h"

#include "core/base/strings.h"

#include <climits>
#include <unistd.h>

namespace patchbay::launch {

namespace {

std::string host_name() {
    char name[HOST_NAME_MAX + 1] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

std::string absolute(const std::string& directory) {
    char current[PATH_MAX];
    if (directory.starts_with('/') || ::getcwd(current, sizeof current) == nullptr) {
        return directory;
    }
    return directory.empty() ? std::string(current) : std::string(current) + "/" + directory;
}

JobLayout lay_out(const JobSpec& job, int cores) {
    JobLayout layout;
    layout.nspace = "patchbay-" + std::to_string(::getpid());
    layout.hostname = host_name();
    layout.slots = cores;
    int default_ranks = job.apps.size() == 1 ? cores : 1;
    for (const AppSpec& app : job.apps) {
        int ranks = app.ranks.value_or(default_ranks);
        layout.apps.push_back({layout.ranks, ranks, join(app.argv, " "), absolute(app.working_directory)});
        layout.ranks += ranks;
    }
    return layout;
}

} // namespace

Result<Placement> place(const JobSpec& job, const Topology& topology) {
    int cores = topology.core_count();
    Placement placement;
    placement.layout = lay_out(job, cores);
    int ranks = placement.layout.ranks;
    if (!job.oversubscribe && ranks > cores) {
        return Error{Errc::invalid,
            std::to_string(ranks) + " ranks on " + std::to_string(cores) +
                " cores, and --no-oversubscribe forbids that"};
    }
    placement.cpus.resize(static_cast<std::size_t>(ranks));
    bool bind = job.bind_to == BindTo::core || (job.bind_to == BindTo::unset && ranks <= cores);
    if (bind) {
        std::vector<cpu_set_t> order = topology.cores_in_order(job.map_by);
        for (std::size_t rank = 0; rank < placement.cpus.size(); ++rank) {
            placement.cpus[rank] = order[rank % order.size()];
        }
    }
    return placement;
}

} // namespace patchbay::launch
