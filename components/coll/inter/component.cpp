// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/inter/inter.h"
#include "core/component/describe.h"
#include "core/core.h"

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

PATCHBAY_COMPONENT =
    patchbay::describe<patchbay::coll::inter::InterComponent>("coll", patchbay::coll::interface_version, "inter",
        "1.0.0", "collectives of intercommunicators, by those of each side and messages between them",
        patchbay::coll::inter::params);
