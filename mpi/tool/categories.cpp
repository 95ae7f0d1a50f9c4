// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/tool/categories.h"

#include <algorithm>

namespace patchbay::tool {

namespace {

constexpr ParamSource sources[] = {ParamSource::default_value, ParamSource::system_file, ParamSource::user_file,
    ParamSource::environment, ParamSource::command_line, ParamSource::program};

std::string group_name(const std::string& framework) {
    return framework.empty() ? "core" : framework;
}

std::string category_name(const std::string& framework, const std::string& component) {
    return component.empty() ? group_name(framework) : group_name(framework) + "_" + component;
}

std::string category_name(ParamSource source) {
    std::string name = std::string("origin_") + to_string(source);
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}

} // namespace

void Categories::open(const ControlVariables& control, const PerformanceVariables& performance, const Events& events) {
    _control = &control;
    make_names(control, performance, events);
    for (std::size_t i = 0; i < control.size(); ++i) {
        const Param& param = *control[i].param;
        of(param.framework(), param.component()).control_variables.push_back(int(i));
    }
    add_origins();
    for (std::size_t i = 0; i < performance.size(); ++i) {
        const ToolRegistry::Variable& what = *performance[i].what;
        of(what.framework, what.component).performance_variables.push_back(int(i));
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
        const ToolRegistry::Event& what = *events[i].what;
        of(what.framework, what.component).events.push_back(int(i));
    }
}

void Categories::make_names(
    const ControlVariables& control, const PerformanceVariables& performance, const Events& events) {
    std::map<std::string, Category> made;
    std::map<std::string, std::string> parents; // by name
    const auto add = [&](const std::string& framework, const std::string& component) {
        const std::string group = category_name(framework, "");
        made[group] = {group, "what belongs to " + group + " and to none of its components", {}, {}, {}, {}};
        if (!component.empty()) {
            const std::string name = category_name(framework, component);
            made[name] = {name, "component " + component + " of framework " + framework, {}, {}, {}, {}};
            parents[name] = group;
        }
    };
    for (std::size_t i = 0; i < control.size(); ++i) {
        const Param& param = *control[i].param;
        add(param.framework(), param.component());
    }
    for (std::size_t i = 0; i < performance.size(); ++i) {
        add(performance[i].what->framework, performance[i].what->component);
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
        add(events[i].what->framework, events[i].what->component);
    }
    made["origin"] = {"origin",
        "where the values of control variables come from; a variable that the program has written is also in the "
        "category of its former value",
        {}, {}, {}, {}};
    for (const ParamSource source : sources) {
        const std::string name = category_name(source);
        made[name] = {
            name, std::string("control variables that have had a value from: ") + to_string(source), {}, {}, {}, {}};
        parents[name] = "origin";
    }
    for (auto& [name, category] : made) { // sorted
        _all.push_back(std::move(category));
    }
    for (const auto& [name, parent] : parents) {
        _all[*find(parent)].categories.push_back(int(*find(name)));
    }
}

void Categories::close() noexcept {
    _all.clear();
    _control = nullptr;
}

std::optional<std::size_t> Categories::find(std::string_view name) const noexcept {
    const auto found = std::find_if(_all.begin(), _all.end(), [name](const Category& one) { return one.name == name; });
    return found == _all.end() ? std::nullopt : std::optional(std::size_t(found - _all.begin()));
}

Category& Categories::of(const std::string& framework, const std::string& component) {
    return _all[*find(category_name(framework, component))];
}

Category& Categories::of(ParamSource source) {
    return _all[*find(category_name(source))];
}

// true: it has not had a value from there before.
bool Categories::note_origin(const Param& param) {
    std::vector<std::string>& names = _of_origin[param.source()];
    if (std::find(names.begin(), names.end(), param.name()) != names.end()) {
        return false;
    }
    names.push_back(param.name());
    return true;
}

void Categories::add_origins() {
    for (std::size_t i = 0; i < _control->size(); ++i) {
        note_origin(*(*_control)[i].param);
    }
    for (const auto& [source, names] : _of_origin) {
        for (const std::string& name : names) {
            if (const auto index = _control->find(name)) {
                of(source).control_variables.push_back(int(*index));
            }
        }
    }
}

void Categories::update(std::size_t index) {
    const Param& param = *(*_control)[index].param;
    if (note_origin(param)) {
        of(param.source()).control_variables.push_back(int(index));
        ++_changes;
    }
}

} // namespace patchbay::tool
