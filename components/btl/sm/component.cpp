// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/module.h"
#include "components/btl/sm/settings.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/log.h"
#include "core/runtime/runtime.h"
#include "frameworks/context.h"

namespace patchbay::btl::sm {

namespace {

class SmComponent final : public btl::Component {
public:
    Status open(Core& core) override {
        auto settings = Settings::read(core.params);
        if (!settings) {
            return settings.error();
        }
        _settings = *settings;
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_node;
    }
    Result<Candidate> query(Context& context) override {
        return unless_out_of_memory([&] { return make(context); });
    }

private:
    Result<Candidate> make(Context& context) {
        Core& core = context.core();
        if (core.node == nullptr || (core.node->expected() < 2 && !core.node->is_for_all_jobs())) {
            return Error{Errc::not_available, "no other process of this job runs on this node"};
        }
        const std::uint32_t cores = core.runtime->node_cores();
        _settings.processes_per_core = (core.runtime->local_size() + cores - 1) / cores;
        auto module = SmModule::create(*core.node, core.runtime->jobs(), _settings, core.decisions);
        if (!module) {
            // The job goes on without this component, and reports later that a process cannot be reached.
            log_error("btl/sm: " + module.error().text);
            return module.error();
        }
        return Candidate{50, std::move(*module)};
    }

    Settings _settings;
};

} // namespace

} // namespace patchbay::btl::sm

PATCHBAY_COMPONENT = patchbay::describe<patchbay::btl::sm::SmComponent>("btl", patchbay::btl::interface_version, "sm",
    "1.0.0", "shared memory within a node, single copy by CMA", patchbay::btl::sm::params);
