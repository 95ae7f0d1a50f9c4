// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/emulated/channel.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/context.h"
#include "object/error_cause.h"

#include <memory>
#include <new>
#include <string>

namespace patchbay::chan::emulated {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "10", "how much this component wants to serve a channel", "0..100"},
};

class EmulatedComponent final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("chan_emulated_priority").as_int());
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node |
            Capability::peers_network | Capability::peers_threads;
    }

    Result<int> query(Context&, const Binding&) override { return _priority; }

    Result<Channel*> create(
        Context& context, const Binding& binding, std::span<std::byte>, std::size_t*) noexcept override {
        try {
            auto channel = std::make_unique<EmulatedChannel>(binding.comm->progress_or(context.progress()), binding);
            if (channel->make_requests(binding.side.buffer, binding.side.count) == MPI_SUCCESS) {
                return channel.release();
            }
        } catch (const std::bad_alloc&) {
        }
        return out_of_memory();
    }

private:
    int _priority = 0;
};

} // namespace

} // namespace patchbay::chan::emulated

PATCHBAY_COMPONENT =
    patchbay::describe<patchbay::chan::emulated::EmulatedComponent>("chan", patchbay::chan::interface_version,
        "emulated", "1.0.0", "persistent messages of any pml", patchbay::chan::emulated::params);
