// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/module.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/memory/node_segment.h"

namespace patchbay::osc::rdma {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "40", "how much this component wants to serve a window", "0..100"},
    {"delegation", ParamType::enumeration, "auto",
        "whether operations on memory that is not mapped are left to the process of the target while that is in the "
        "library: auto, where each local rank has a core of its own",
        "auto,always,never"},
    {"delegation_limit", ParamType::size, "4MiB", "the most bytes of an operation that is left to the target"},
    {"delegation_patience", ParamType::duration, "2us",
        "how long an operation is left to a target that does not begin it"},
    {"mailbox_size", ParamType::size, "64KiB",
        "the most memory that the operations left to one member of a window take in its process"},
};

class RdmaComponent final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("osc_rdma_priority").as_int());
        _delegation = Delegation(core.params.at("osc_rdma_delegation").as_enum());
        _limit = core.params.at("osc_rdma_delegation_limit").as_size();
        _patience = core.params.at("osc_rdma_delegation_patience").as_duration();
        _mailbox_size = core.params.at("osc_rdma_mailbox_size").as_size();
        _counters.open(core.tool);
        return {};
    }
    void close() noexcept override { _counters.close(); }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node |
            Capability::peers_network;
    }

    Result<int> query(Context& context, const Window& window) override {
        return unless_out_of_memory([&]() -> Result<int> {
            auto transports = context.transports();
            if (!transports) {
                return Error{Errc::not_available, transports.error().text};
            }
            if (const std::string reason = Members::refuse(**transports, *window.comm->group, window.rank);
                !reason.empty()) {
                return Error{Errc::not_available, reason};
            }
            return _priority;
        });
    }

    Result<std::unique_ptr<Module>> create(Context& context, Window& window) noexcept override {
        std::unique_ptr<RdmaModule> module;
        const Status built = unless_out_of_memory([&] { return build(context, window, module); });
        return unless_out_of_memory([&]() -> Result<std::unique_ptr<Module>> {
            if (Status agreed = Members::agree_on(*window.comm, built); !agreed) {
                return agreed.error();
            }
            if (Status connected = module->connect(); !connected) {
                return connected.error();
            }
            return Result<std::unique_ptr<Module>>(std::move(module));
        });
    }

private:
    // What this member does for itself.
    Status build(Context& context, Window& window, std::unique_ptr<RdmaModule>& module) {
        auto job = _jobs.use(context);
        if (!job) {
            return job.error();
        }
        NodeSegment* const segment = context.core().node;
        const std::size_t payload = mailbox_payload(window, segment);
        const std::size_t bytes = ControlLayout(window.size).bytes() + MailboxLayout(window.size, payload).bytes();
        auto control = Memory::allocate(segment, bytes, 64, false);
        if (!control) {
            return control.error();
        }
        const bool enabled = _delegation == Delegation::always ||
            (_delegation == Delegation::automatic && context.progress().policy().spin.count() != 0);
        module = std::make_unique<RdmaModule>(window, std::move(*job), std::move(*control), payload,
            RdmaModule::Delegating{enabled, _limit, _patience, &_counters}, segment);
        return module->prepare();
    }

    // 0 where all others have the window memory of this process mapped. A dynamic window may get any number of bytes.
    std::size_t mailbox_payload(const Window& window, NodeSegment* segment) const noexcept {
        const bool is_dynamic = window.flavor == MPI_WIN_FLAVOR_DYNAMIC;
        const std::uint64_t bytes = is_dynamic ? UINT64_MAX : window.members[std::size_t(window.rank)].bytes;
        if (_delegation == Delegation::never || segment == nullptr || bytes == 0 ||
            (!is_dynamic && segment->heap().address_of_memory(window.base, bytes) != 0)) {
            return 0;
        }
        return MailboxLayout::fitting_payload(window.size, _limit, _mailbox_size, bytes);
    }

    enum class Delegation : std::uint8_t { automatic, always, never };

    int _priority = 0;
    Delegation _delegation = Delegation::automatic;
    std::size_t _limit = 0;
    std::size_t _mailbox_size = 0;
    std::chrono::nanoseconds _patience{0};
    DelegationCounters _counters;
    Jobs _jobs;
};

} // namespace

} // namespace patchbay::osc::rdma

PATCHBAY_COMPONENT = patchbay::describe<patchbay::osc::rdma::RdmaComponent>("osc", patchbay::osc::interface_version,
    "rdma", "1.0.0", "one-sided operations over any btl with put, get and atomics", patchbay::osc::rdma::params,
    patchbay::ToolTables(patchbay::osc::rdma::tool_variables));
