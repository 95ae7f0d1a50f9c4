// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/consensus/consensus.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/cid/single_module.h"
#include "frameworks/context.h"

#include <new>

namespace patchbay::cid {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "20", "how much this component wants to name communicators", "0..100",
        ParamLevel::tuner_basic, ParamScope::all_equal},
};

class ConsensusModule final : public Module {
public:
    explicit ConsensusModule(Context& context) noexcept
        : _context(context),
          _table(context.communicators()),
          _counters(context.cid_counters()) {}
    std::unique_ptr<Allocation> begin(const NewCommunicator& what, int* code) noexcept override {
        const std::uint64_t number = what.is_leader() ? _context.unique_number() : 0;
        auto* allocation = new (std::nothrow) ConsensusAllocation(_table, _counters, what, number);
        *code = allocation != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
        return std::unique_ptr<Allocation>(allocation);
    }

private:
    Context& _context;
    IndexTable& _table;
    Counters& _counters;
};

class Consensus final : public SingleModule {
public:
    Consensus()
        : SingleModule("cid_consensus_priority", Capability::thread_multiple) {}

private:
    std::unique_ptr<Module> make(Context& context) noexcept override {
        return std::unique_ptr<Module>(new (std::nothrow) ConsensusModule(context));
    }
};

} // namespace
} // namespace patchbay::cid

PATCHBAY_COMPONENT = patchbay::describe<patchbay::cid::Consensus>("cid", patchbay::cid::interface_version, "consensus",
    "1.0.0", "finds the lowest index that is free in all members, in rounds of reductions", patchbay::cid::params);
