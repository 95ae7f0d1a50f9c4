// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"
#include "core/component/describe.h"
#include "core/component/framework.h"
#include "core/core.h"
#include "mpi/instance/instance.h"

#include <new>

namespace patchbay::pml::ob1 {

namespace {

constexpr ParamSpec params[] = {
    {"unexpected_limit", ParamType::size, "16MiB",
        "bytes of memory that unmatched messages of one peer may take before that peer has to announce its messages by "
        "rts packets",
        nullptr, ParamLevel::tuner_basic, ParamScope::local},
    {"fetch_chunk", ParamType::size, "4MiB",
        "bytes of one large message that are fetched by single copy before other messages make progress", nullptr,
        ParamLevel::tuner_detail, ParamScope::local},
    {"memory_wait", ParamType::duration, "5s",
        "how long a process without memory tries again to store a message that has arrived, to reply, or to "
        "send the rest of a message",
        nullptr, ParamLevel::tuner_detail, ParamScope::local},
};

class Ob1Component final : public pml::Component {
public:
    Status open(Core& core) override {
        _settings.unexpected_limit = core.params.at("pml_ob1_unexpected_limit").as_size();
        _settings.fetch_chunk = core.params.at("pml_ob1_fetch_chunk").as_size();
        _settings.memory_wait = core.params.at("pml_ob1_memory_wait").as_duration();
        if (_settings.fetch_chunk == 0) {
            return Error{Errc::invalid, "pml_ob1_fetch_chunk=0: must be at least 1 byte"};
        }
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node;
    }
    Result<Candidate> query(Instance& instance) noexcept override {
        try {
            return make(instance);
        } catch (const std::bad_alloc&) {
            return Error{Errc::out_of_memory, "out of memory"};
        }
    }

private:
    Result<Candidate> make(Instance& instance) {
        auto lease = instance.btl_framework().open(instance.core());
        if (!lease) {
            return lease.error();
        }
        auto offers =
            instance.btl_framework().select_all("job", [&](btl::Component& component) -> Result<Choice<btl::Module>> {
                auto candidate = component.query(instance);
                if (!candidate) {
                    return candidate.error();
                }
                return Choice<btl::Module>{candidate->priority, std::move(candidate->module)};
            });
        if (!offers) {
            return offers.error();
        }
        // All of them are used: each peer is reached by the fastest btl that can.
        instance.btl_framework().note_winner("job", *offers, offers->size());
        std::vector<std::unique_ptr<btl::Module>> btls;
        for (auto& offer : *offers) {
            btls.push_back(std::move(offer.module));
        }
        const Services services{*instance.core().progress, *instance.core().runtime, instance.directory(),
            instance.cid_counters(), instance.self()};
        return Candidate{50, std::make_unique<Ob1>(services, std::move(btls), _settings, std::move(*lease))};
    }

    Settings _settings;
};

} // namespace

} // namespace patchbay::pml::ob1

PATCHBAY_COMPONENT = patchbay::describe<patchbay::pml::ob1::Ob1Component>("pml", patchbay::pml::interface_version,
    "ob1", "1.0.0", "matches here, moves bytes over btls", patchbay::pml::ob1::params);
