// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/threads/module.h"
#include "components/coll/threads/several_processes.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"

#include <algorithm>

namespace patchbay::coll::threads {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "60",
        "how much this component wants to serve a communicator of threads (0 to 100)"},
};

class ThreadsComponent final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("coll_threads_priority").as_int());
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self;
    }
    Result<Candidate> query(Query& query) noexcept override {
        if (query.comm.view == nullptr || query.comm.size == 1) {
            return query.refuse_all("serves communicators of several ranks that are threads only");
        }
        const std::vector<int>& leaders = query.team->leaders();
        if (leaders.size() == std::size_t(query.comm.size)) {
            return query.refuse("serves communicators only that have several threads of some process");
        }
        return unless_out_of_memory(
            Result<Candidate>(Error{Errc::out_of_memory, "no memory for a module"}), [&]() -> Result<Candidate> {
                const ThreadTeam& team = *query.team;
                auto group = query.team->share<Group>(this, [&] { return std::make_shared<Group>(team.size()); });
                if (leaders.size() == 1) {
                    return Candidate{_priority,
                        std::make_unique<ThreadModule>(std::move(group), query.team, query.comm.rank, query.below),
                        false, true};
                }
                const auto rank = std::find(team.ranks().begin(), team.ranks().end(), query.comm.rank);
                return Candidate{_priority,
                    std::make_unique<ProcessesModule>(std::move(group), query.team, int(rank - team.ranks().begin())),
                    false, false};
            });
    }

private:
    int _priority = 0;
};

} // namespace

} // namespace patchbay::coll::threads

PATCHBAY_COMPONENT = patchbay::describe<patchbay::coll::threads::ThreadsComponent>("coll",
    patchbay::coll::interface_version, "threads", "1.0.0",
    "blocking collectives of threads: the shared memory of those of one process", patchbay::coll::threads::params);
