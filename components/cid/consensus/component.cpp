// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/consensus/consensus.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "mpi/instance/instance.h"

#include <new>

namespace patchbay::cid {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "20", "how much this component wants to name communicators, 0 to 100", nullptr,
        ParamLevel::tuner_basic, ParamScope::all_equal},
};

class ConsensusModule final : public Module {
public:
    explicit ConsensusModule(Instance& instance) noexcept
        : _instance(instance),
          _table(instance.communicators()),
          _counters(instance.cid_counters()) {}
    std::unique_ptr<Assignment> begin(const NewCommunicator& what, int* code) noexcept override {
        const std::uint64_t number = what.leads() ? _instance.unique_number() : 0;
        auto* assignment = new (std::nothrow) ConsensusAssignment(_table, _counters, what, number);
        *code = assignment != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
        return std::unique_ptr<Assignment>(assignment);
    }

private:
    Instance& _instance;
    IndexTable& _table;
    Counters& _counters;
};

class Consensus final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("cid_consensus_priority").as_int());
        return {};
    }
    // Whoever closes us has destroyed all communicators before.
    void close() noexcept override { _module.reset(); }
    Capability capabilities() const noexcept override { return Capability::thread_multiple; }

    Result<Choice> query(Instance& instance) noexcept override {
        std::call_once(_made, [&] { _module.reset(new (std::nothrow) ConsensusModule(instance)); });
        if (_module == nullptr) {
            return Error{Errc::out_of_memory, "no memory for the module"};
        }
        return Choice{_priority, _module.get()};
    }

private:
    int _priority = 0;
    std::once_flag _made;
    std::unique_ptr<ConsensusModule> _module;
};

} // namespace
} // namespace patchbay::cid

PATCHBAY_COMPONENT = patchbay::describe<patchbay::cid::Consensus>("cid", patchbay::cid::interface_version, "consensus",
    "1.0.0", "agrees, in rounds, on the lowest index that is free everywhere", patchbay::cid::params);
