// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/mask/mask.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/cid/single_module.h"
#include "frameworks/cid/uniform_cid.h"
#include "frameworks/context.h"

#include <new>

namespace patchbay::cid {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "30", "how much this component wants to name communicators", "0..100",
        ParamLevel::tuner_basic, ParamScope::all_equal},
};

class MaskModule final : public Module {
public:
    explicit MaskModule(Context& context) noexcept
        : _context(context),
          _table(context.communicators()),
          _ownership(context.progress()),
          _counters(context.cid_counters()) {}
    std::unique_ptr<Allocation> begin(const NewCommunicator& what, int* code) noexcept override {
        if (what.comm.size == 1 && !what.comm.is_inter) {
            *code = take_alone(what);
            return nullptr;
        }
        std::optional<std::uint64_t> number;
        if (what.is_leader()) {
            number = _context.unique_number();
        }
        auto* allocation = new (std::nothrow) MaskAllocation(_table, _ownership, _counters, what, number);
        *code = allocation != nullptr ? allocation->start() : MPI_ERR_NO_MEM;
        return std::unique_ptr<Allocation>(allocation);
    }

private:
    // A process that is the only member takes any free index, and needs no mask ownership.
    int take_alone(const NewCommunicator& what) noexcept {
        const std::optional<std::uint32_t> index = _table.reserve_lowest(0);
        if (!index) {
            return _table.none_common("cid/mask");
        }
        what.comm.index = std::uint16_t(*index);
        what.comm.id = new (std::nothrow) UniformCid(what.comm.index);
        if (what.comm.id == nullptr) {
            _table.release(*index);
            return MPI_ERR_NO_MEM;
        }
        return MPI_SUCCESS;
    }

    Context& _context;
    IndexTable& _table;
    MaskOwnership _ownership;
    Counters& _counters;
};

class Mask final : public SingleModule {
public:
    Mask()
        : SingleModule("cid_mask_priority", Capability::thread_multiple) {}

private:
    std::unique_ptr<Module> make(Context& context) noexcept override {
        return std::unique_ptr<Module>(new (std::nothrow) MaskModule(context));
    }
};

} // namespace
} // namespace patchbay::cid

PATCHBAY_COMPONENT = patchbay::describe<patchbay::cid::Mask>("cid", patchbay::cid::interface_version, "mask", "1.0.0",
    "finds a free index by one reduction over bit masks", patchbay::cid::params);
