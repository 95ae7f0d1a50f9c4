// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/inter/inter.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"

#include <new>

namespace patchbay::coll::inter {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "10", "how much this component wants to serve an intercommunicator", "0..100"},
};

// The functions whose data one side combines or spreads.
constexpr FunctionSet bridged_functions{Function::barrier, Function::bcast, Function::reduce, Function::allreduce,
    Function::reduce_scatter, Function::reduce_scatter_block};

template <class Steps>
void add_steps(Steps& steps, const Call& call) noexcept {
    if (bridged_functions.has(call.function)) {
        bridged(steps, call);
    } else {
        direct(steps, call);
    }
}

class InterComponent final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("coll_inter_priority").as_int());
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node |
            Capability::peers_network;
    }
    Result<Candidate> query(Query& query) override {
        if (!query.comm.is_inter) {
            return query.refuse_all("serves intercommunicators only");
        }
        std::unique_ptr<Module> module(new (std::nothrow) InterModule);
        if (!module) {
            return Error{Errc::out_of_memory, "no memory for a module"};
        }
        return Candidate{_priority, std::move(module), true};
    }

private:
    int _priority = 0;
};

} // namespace

int InterModule::plan(const Call& call, Schedule& schedule) noexcept {
    add_steps(schedule, call);
    return MPI_SUCCESS;
}

int InterModule::blocking(const Call& call, Communicator& comm) noexcept {
    Immediate steps(comm, call.function);
    add_steps(steps, call);
    return steps.code();
}

} // namespace patchbay::coll::inter

PATCHBAY_COMPONENT =
    patchbay::describe<patchbay::coll::inter::InterComponent>("coll", patchbay::coll::interface_version, "inter",
        "1.0.0", "collectives of intercommunicators, by those of each side and messages between them",
        patchbay::coll::inter::params);
