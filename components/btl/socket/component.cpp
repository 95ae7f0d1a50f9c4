// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/socket/module.h"
#include "components/btl/socket/runtime_services.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/context.h"

namespace patchbay::btl::socket {

namespace {

class SocketComponent final : public btl::Component {
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
        Runtime& runtime = context.runtime();
        if (runtime.is_singleton()) {
            return Error{Errc::not_available, "this process runs alone"};
        }
        auto module = SocketModule::create(runtime.rank(), runtime.jobs(), _settings,
            std::make_unique<RuntimeServices>(runtime, context.progress()), context.core().decisions);
        if (!module) {
            return module.error();
        }
        return Candidate{20, std::move(*module)};
    }

    Settings _settings;
};

} // namespace

} // namespace patchbay::btl::socket

PATCHBAY_COMPONENT = patchbay::describe<patchbay::btl::socket::SocketComponent>("btl", patchbay::btl::interface_version,
    "socket", "1.0.0", "sockets within a host, also between jobs of several mpirun", patchbay::btl::socket::params);
