// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/threads/module.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"

namespace patchbay::coll::threads {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "60",
        "how much this component wants to serve a communicator of threads of one process (0 to 100)"},
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
        if (query.team == nullptr) {
            return query.refuse("serves communicators only whose ranks are threads of one process");
        }
        return unless_out_of_memory(
            Result<Candidate>(Error{Errc::out_of_memory, "no memory for a module"}), [&]() -> Result<Candidate> {
                auto group = query.team->share<Group>(this, [&] { return std::make_shared<Group>(query.comm.size); });
                return Candidate{_priority,
                    std::make_unique<ThreadModule>(std::move(group), query.team, query.comm.rank, query.below), false,
                    true};
            });
    }

private:
    int _priority = 0;
};

} // namespace

} // namespace patchbay::coll::threads

PATCHBAY_COMPONENT = patchbay::describe<patchbay::coll::threads::ThreadsComponent>("coll",
    patchbay::coll::interface_version, "threads", "1.0.0",
    "blocking collectives of the threads of one process: their shared memory", patchbay::coll::threads::params);
