// SPDX-License-Identifier: BSD-3-Clause
// coll/watch: wraps the modules that provide MPI_Barrier alone, and prints how often that was called.
#include "core/component/describe.h"
#include "core/log.h"
#include "frameworks/coll/forward.h"
#include "frameworks/context.h"

#include <string>

using namespace patchbay;

namespace {

class WatchModule final : public coll::Forward {
public:
    using Forward::Forward;
    ~WatchModule() override {
        log_warn("coll/watch: " + std::to_string(_calls) + " barriers, " + std::to_string(_plans) + " plans");
    }
    int blocking(const coll::Call& call, Communicator& comm) noexcept override {
        ++_calls;
        return Forward::blocking(call, comm);
    }
    int plan(const coll::Call& call, coll::Schedule& schedule) noexcept override {
        ++_plans;
        return Forward::plan(call, schedule);
    }

private:
    int _calls = 0;
    int _plans = 0;
};

class WatchComponent final : public coll::Component {
public:
    Capability capabilities() const noexcept override { return Capability::thread_multiple | Capability::sessions; }
    Result<Candidate> query(coll::Query& query) override { return query.refuse_all("it only wraps others"); }
    Status wrap(Context&, Communicator&, std::unique_ptr<coll::Module>& module) override {
        const coll::FunctionSet others = module->provides().blocking - coll::FunctionSet{coll::Function::barrier};
        if (!others.empty()) {
            return Error{Errc::not_available, "it wraps what provides MPI_Barrier alone"};
        }
        module = std::make_unique<WatchModule>(std::move(module));
        return {};
    }
};

} // namespace

PATCHBAY_COMPONENT = describe<WatchComponent>("coll", coll::interface_version, "watch", "1.0.0", "counts barriers");
