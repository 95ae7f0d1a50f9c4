// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/module.h"
#include "components/pml/ob1/tool_tables.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/context.h"

#include <new>

namespace patchbay::pml::ob1 {

namespace {

constexpr ParamSpec params[] = {
    {"unexpected_limit", ParamType::size, "16MiB",
        "bytes of memory that unmatched messages of one peer may take before that peer has to announce its messages by "
        "rts packets",
        nullptr, ParamLevel::tuner_basic, ParamScope::local},
    {"fetch_chunk", ParamType::size, "4MiB",
        "bytes of one large message that are fetched by single copy before other messages make progress", "1..",
        ParamLevel::tuner_detail, ParamScope::local},
    {"large_messages", ParamType::enumeration, "auto",
        "how the contents of a large message come where the btl offers single copy: stream (in packets), get (the "
        "receiver "
        "copies), halves (both processes copy), auto (get; what a measurement finds fastest, where the btl says that "
        "it "
        "depends)",
        "auto,stream,get,halves", ParamLevel::tuner_basic, ParamScope::local},
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
        if (const int chosen = core.params.at("pml_ob1_large_messages").as_enum(); chosen != 0) {
            _settings.way = Way(chosen - 1);
        }
        _settings.memory_wait = core.params.at("pml_ob1_memory_wait").as_duration();
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node;
    }
    Result<Candidate> query(Context& context) override {
        try {
            return make(context);
        } catch (const std::bad_alloc&) {
            return out_of_memory();
        }
    }

private:
    Result<Candidate> make(Context& context) {
        auto transports = context.transports();
        if (!transports) {
            return transports.error();
        }
        const Services services{context.progress(), context.runtime(), context.directory(), context.cid_counters(),
            context.self(), &context.core().tool};
        auto module = std::make_unique<Ob1>(services, **transports, _settings);
        if (Status ready = module->start(); !ready) {
            return ready.error();
        }
        return Candidate{50, std::move(module)};
    }

    Settings _settings;
};

} // namespace

} // namespace patchbay::pml::ob1

PATCHBAY_COMPONENT = patchbay::describe<patchbay::pml::ob1::Ob1Component>("pml", patchbay::pml::interface_version,
    "ob1", "1.0.0", "matches here, moves bytes over btls", patchbay::pml::ob1::params,
    patchbay::ToolTables(patchbay::pml::ob1::tool_variables, patchbay::pml::ob1::tool_events));
