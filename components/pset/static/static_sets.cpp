// SPDX-License-Identifier: BSD-3-Clause
#include "components/pset/static/static_sets.h"

#include "core/base/strings.h"

#include <algorithm>

namespace patchbay::pset {

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

StaticSets::StaticSets(const std::vector<PsetDefinition>& definitions, std::optional<Hardware> hardware)
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
        if (const auto number = _hardware->confined_to(kind)) {
            const std::string name = std::string(hardware_scheme) + kind.name + "/" + std::to_string(*number);
            (kind.is_listed ? _sets : _unlisted).push_back(Set::of(name, 1, _hardware->members));
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
    for (const std::vector<Set>* sets : {&_sets, &_unlisted}) {
        if (auto found = std::ranges::find(*sets, name, &Set::name); found != sets->end()) {
            return *found;
        }
    }
    return Error{Errc::not_found, "no parameter defines the process set '" + name + "'"};
}

} // namespace patchbay::pset
