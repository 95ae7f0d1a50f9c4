// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/inter/inter.h"
#include "core/component/descriptor.h"
#include "core/core.h"

#include <iterator>
#include <new>

namespace patchbay::coll::inter {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "10", "how much this component wants to serve an intercommunicator (0 to 100)"},
};

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
    Result<Candidate> query(Context&, Communicator& comm) noexcept override {
        if (!comm.is_inter) {
            return Error{Errc::not_available, "serves intercommunicators only"};
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

} // namespace patchbay::coll::inter

extern "C" [[gnu::visibility("default")]] const patchbay::ComponentDescriptor patchbay_component;
const patchbay::ComponentDescriptor patchbay_component = {
    .struct_size = sizeof(patchbay::ComponentDescriptor),
    .core_abi = patchbay::core_abi_version,
    .toolchain = patchbay::toolchain_tag,
    .framework = "coll",
    .framework_version = patchbay::coll::interface_version,
    .name = "inter",
    .version = "1.0.0",
    .summary = "collectives of intercommunicators, by those of each side and messages between them",
    .params = patchbay::coll::inter::params,
    .param_count = std::size(patchbay::coll::inter::params),
    .create = []() noexcept -> patchbay::Component* {
        return new (std::nothrow) patchbay::coll::inter::InterComponent;
    },
};
