// SPDX-License-Identifier: BSD-3-Clause
#include "components/pset/pmix/launcher_sets.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/context.h"

#include <new>

namespace patchbay::pset {

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "50", "how much the launcher is believed about a process set", "0..100",
        ParamLevel::tuner_basic, ParamScope::all_equal},
};

class Pmix final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("pset_pmix_priority").as_int());
        return {};
    }
    Capability capabilities() const noexcept override { return Capability::thread_multiple; }

    Result<Candidate> query(Context& context) override {
        Runtime& runtime = context.runtime();
        auto module = std::unique_ptr<LauncherSets>(new (std::nothrow) LauncherSets(runtime));
        if (module == nullptr) {
            return out_of_memory();
        }
        // Other launchers may support no such query, which only a query shows.
        if (!runtime.own_launcher()) {
            if (auto names = module->names(); !names) {
                const bool lacking = names.error().code == Errc::unsupported;
                return Error{lacking ? Errc::not_available : names.error().code, names.error().text};
            }
        }
        return Candidate{_priority, std::move(module)};
    }

private:
    int _priority = 0;
};

} // namespace
} // namespace patchbay::pset

PATCHBAY_COMPONENT = patchbay::describe<patchbay::pset::Pmix>("pset", patchbay::pset::interface_version, "pmix",
    "1.0.0", "asks the launcher for its process sets", patchbay::pset::params);
