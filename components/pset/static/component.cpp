// SPDX-License-Identifier: BSD-3-Clause
#include "components/pset/static/static_sets.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/runtime/hw_resources.h"
#include "core/runtime/runtime.h"
#include "frameworks/context.h"

#include <new>

namespace patchbay::pset {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "20", "how much the parameter is believed about a process set", "0..100",
        ParamLevel::tuner_basic, ParamScope::all_equal},
    {"sets", ParamType::string, "", "process sets as NAME=RANKS, separated by ';': \"ocean=0-3;atmos=4-7\"", nullptr,
        ParamLevel::user_basic, ParamScope::all_equal},
};

// Patchbay's mpirun has bound the processes and publishes their bindings. Under other launchers a process knows its own
// binding only: a single process is the only member; of several processes all members see the same set only where the
// machine has one object of that kind, so that all processes of the node are in it, whatever they are bound to.
std::optional<StaticSets::Hardware> hardware_of(Context& context) {
    const Runtime& runtime = context.runtime();
    if (runtime.own_launcher()) {
        return std::nullopt;
    }
    const bool alone = runtime.size() == 1;
    StaticSets::Hardware hardware;
    hardware.confined_to = [&resources = context.hw_resources(), alone](
                               const HardwareKind& kind) -> std::optional<std::uint32_t> {
        if (!alone && resources.count(kind.hwloc) != 1) {
            return std::nullopt;
        }
        return kind.has_system_number ? resources.number_of_confined_to(kind.hwloc) : resources.confined_to(kind.hwloc);
    };
    for (const std::uint32_t rank : runtime.local_peers()) {
        hardware.members.push_back({own_job, rank});
    }
    return hardware;
}

class Static final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("pset_static_priority").as_int());
        _definitions.clear();
        auto definitions = parse_definitions(core.params.at("pset_static_sets").as_string());
        if (!definitions) {
            return Error{Errc::invalid, "parameter pset_static_sets: " + definitions.error().text};
        }
        _definitions = std::move(*definitions);
        return {};
    }
    Capability capabilities() const noexcept override { return Capability::thread_multiple; }

    Result<Candidate> query(Context& context) override {
        const std::uint32_t size = context.runtime().size();
        for (const PsetDefinition& definition : _definitions) {
            if (definition.highest_rank() >= size) {
                return Error{Errc::invalid,
                    "parameter pset_static_sets: '" + definition.name + "' has rank " +
                        std::to_string(definition.highest_rank()) + ", but the job has the ranks 0 to " +
                        std::to_string(size - 1)};
            }
        }
        return Candidate{_priority, std::make_unique<StaticSets>(_definitions, hardware_of(context))};
    }

private:
    int _priority = 0;
    std::vector<PsetDefinition> _definitions;
};

} // namespace
} // namespace patchbay::pset

PATCHBAY_COMPONENT = patchbay::describe<patchbay::pset::Static>("pset", patchbay::pset::interface_version, "static",
    "1.0.0", "process sets from a parameter, and those of the hardware that a process can tell by itself",
    patchbay::pset::params);
