// SPDX-License-Identifier: BSD-3-Clause
#include "components/pset/static/static_sets.h"

#include "core/base/strings.h"

#include <algorithm>

namespace patchbay::pset {

namespace {
constexpr char hardware_scheme[] = "mpix://";

struct HardwareKind {
    const char* hwloc;
    const char* name;
};
constexpr HardwareKind hardware_kinds[] = {{"NUMANode", "NUMA/"}, {"Package", "PACKAGE/"}};
} // namespace

Result<std::vector<PsetDefinition>> parse_definitions(std::string_view text) {
    std::vector<PsetDefinition> definitions;
    for (const std::string& part : split(text, ';')) {
        Result<PsetDefinition> definition = parse_pset_definition(part);
        if (!definition) {
            return definition.error();
        }
        if (std::ranges::find(definitions, definition->name, &PsetDefinition::name) != definitions.end()) {
            return Error{Errc::invalid, "the process set '" + definition->name + "' is defined twice"};
        }
        definitions.push_back(std::move(*definition));
    }
    return definitions;
}

StaticSets::StaticSets(std::vector<PsetDefinition> definitions, std::optional<Hardware> hardware)
    : _hardware(std::move(hardware)) {
    for (const PsetDefinition& definition : definitions) {
        Set& set = _sets.emplace_back();
        set.name = definition.name;
        for (const RankRange& range : definition.ranks) {
            set.runs.push_back({{0, range.first}, range.last - range.first + 1});
        }
    }
}

void StaticSets::look_at_hardware() {
    if (!_hardware) {
        return;
    }
    for (const HardwareKind& kind : hardware_kinds) {
        if (const auto number = _hardware->confined_to(kind.hwloc)) {
            _sets.push_back(
                Set::of(std::string(hardware_scheme) + kind.name + std::to_string(*number), 1, _hardware->members));
        }
    }
    _hardware.reset();
}

Result<std::vector<std::string>> StaticSets::names() {
    look_at_hardware();
    std::vector<std::string> names;
    for (const Set& set : _sets) {
        names.push_back(set.name);
    }
    return names;
}

Result<Set> StaticSets::find(const std::string& name) {
    if (name.starts_with(hardware_scheme)) {
        look_at_hardware();
    }
    auto found = std::ranges::find(_sets, name, &Set::name);
    if (found == _sets.end()) {
        return Error{Errc::not_found, "no parameter defines the process set '" + name + "'"};
    }
    return *found;
}

} // namespace patchbay::pset
