// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/hardware_kinds.h"
#include "core/runtime/pset_definition.h"
#include "frameworks/pset/pset.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::pset {

// "ocean=0-3;atmos=4-7". Errc::invalid: ill-formed, or a name twice.
Result<std::vector<PsetDefinition>> parse_definitions(std::string_view text);

// The sets of a parameter, and those of the hardware whose members every process can determine by itself.
class StaticSets final : public Module {
public:
    struct Hardware {
        // The number of the only one of that kind that this process may run on; nothing when there are several, or
        // none.
        std::function<std::optional<std::uint32_t>(const HardwareKind&)> confined_to;
        // The members, when that is so.
        std::vector<ProcessId> members;
    };

    // Without `hardware` there are no sets of that kind. It is looked at on first need.
    StaticSets(const std::vector<PsetDefinition>& definitions, std::optional<Hardware> hardware);

    Result<std::vector<std::string>> names() override;
    Result<Set> find(const std::string& name) override;

private:
    void look_at_hardware();

    std::vector<Set> _sets;
    std::vector<Set> _unlisted;        // of the hardware
    std::optional<Hardware> _hardware; // not looked at yet
};

} // namespace patchbay::pset
