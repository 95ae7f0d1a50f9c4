// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/threads/module.h"
#include "components/coll/threads/several_processes.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"

namespace patchbay::coll::threads {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "60", "how much this component wants to serve a communicator of threads",
        "0..100"},
};

// Where members share cores, a second step costs each of them another turn on its core, more than any copy. On cores of
// their own it costs less than a block that has to move from one to the other twice.
std::size_t longest_copy(const Progress& progress) noexcept {
    const bool shares_cores = progress.policy().spin.count() == 0;
    return shares_cores ? Block::room : 512;
}

class ThreadsComponent final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("coll_threads_priority").as_int());
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self;
    }
    Result<Candidate> query(Query& query) override {
        if (query.comm.view == nullptr || query.comm.is_inter || query.comm.size == 1) {
            return query.refuse_all("serves intracommunicators of several ranks that are threads only");
        }
        const std::vector<int>& leaders = query.team->leaders();
        if (leaders.size() == std::size_t(query.comm.size)) {
            return query.refuse("serves communicators only that have several threads of some process");
        }
        return unless_out_of_memory(
            Result<Candidate>(Error{Errc::out_of_memory, "no memory for a module"}), [&]() -> Result<Candidate> {
                const ThreadTeam& team = *query.team;
                // All members take the group of the first one, and with it the same decisions.
                auto group = query.team->share<Group>(
                    this, [&] { return std::make_shared<Group>(team.size(), longest_copy(*query.comm.progress)); });
                if (leaders.size() == 1) {
                    return Candidate{_priority,
                        std::make_unique<ThreadModule>(std::move(group), query.team, query.comm.rank, query.below),
                        false, true};
                }
                return Candidate{_priority,
                    std::make_unique<ProcessesModule>(
                        std::move(group), query.team, team.place_of(query.comm.rank), query.below),
                    false, true};
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
