// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/module.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"

namespace patchbay::osc::rdma {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "40", "how much this component wants to serve a window (0 to 100)"},
};

class RdmaComponent final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("osc_rdma_priority").as_int());
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node |
            Capability::peers_network;
    }

    Result<int> query(Context& context, const Window& window) noexcept override {
        return unless_out_of_memory(Result<int>(no_memory()), [&]() -> Result<int> {
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
        const Status built = unless_out_of_memory(Status(no_memory()), [&] { return build(context, window, module); });
        return unless_out_of_memory(
            Result<std::unique_ptr<Module>>(no_memory()), [&]() -> Result<std::unique_ptr<Module>> {
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
    static Error no_memory() { return {Errc::out_of_memory, "no memory for a window"}; }

    // What this member does for itself.
    Status build(Context& context, Window& window, std::unique_ptr<RdmaModule>& module) {
        auto job = _jobs.use(context);
        if (!job) {
            return job.error();
        }
        NodeSegment* const segment = context.core().node;
        auto control = Memory::allocate(segment, ControlLayout(window.size).bytes(), 64, false);
        if (!control) {
            return control.error();
        }
        module = std::make_unique<RdmaModule>(window, std::move(*job), std::move(*control), segment);
        return module->prepare();
    }

    int _priority = 0;
    Jobs _jobs;
};

} // namespace

} // namespace patchbay::osc::rdma

PATCHBAY_COMPONENT = patchbay::describe<patchbay::osc::rdma::RdmaComponent>("osc", patchbay::osc::interface_version,
    "rdma", "1.0.0", "one-sided operations over any btl with put, get and atomics", patchbay::osc::rdma::params);
