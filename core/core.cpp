// SPDX-License-Identifier: BSD-3-Clause
#include "core/core.h"

#include "core/base/strings.h"
#include "core/component/repository.h"
#include "core/lifetime/fault_plan.h"
#include "core/log.h"
#include "core/tool/core_source.h"
#include "core/tool/registry.h"

namespace patchbay {

namespace {

constexpr ParamSpec core_params[] = {
    {"verbose", ParamType::integer, "0",
        "how much is said on stderr: 0 errors and warnings, 1 what was chosen, 2 what was tried, 3 details", "0..1000",
        ParamLevel::user_basic, ParamScope::local},
    {"explain", ParamType::boolean, "false",
        "print why each component was or was not chosen and where each non-default parameter came from", nullptr,
        ParamLevel::user_basic, ParamScope::local},
    {"component_path", ParamType::list, "",
        "directories to look for components in, before ~/.patchbay/components and the installation; ',' or ':' between",
        nullptr, ParamLevel::user_detail, ParamScope::read_only}, // read when the core is created
    {"fault_step", ParamType::integer, "0", "for tests: makes this step of an init fail, counted from 1; 0 none",
        "0..1000000", ParamLevel::dev_all, ParamScope::read_only},
};

std::vector<std::string> directories_of(const Param& component_path) {
    std::vector<std::string> result;
    for (const std::string& item : component_path.as_list()) {
        for (std::string& directory : split(item, ':')) {
            result.push_back(std::move(directory));
        }
    }
    return result;
}

} // namespace

struct Core::Inside {
    Repository components;
    FaultPlan faults;
    ToolRegistry tool;
    CoreSource source{tool};
    bool params_explained = false;
};

Core::Core()
    : _inside(std::make_unique<Inside>()),
      components(_inside->components),
      faults(_inside->faults),
      tool(_inside->tool) {}

Core::~Core() = default;

Result<std::unique_ptr<Core>> Core::create(std::span<const ComponentDescriptor* const> linked_in) {
    return create(ParamSources::of_process(), ComponentPlaces::of_process(linked_in));
}

Result<std::unique_ptr<Core>> Core::create(std::span<const ComponentDescriptor* const> linked_in,
    const ParamSources& sources, const std::vector<std::string>& directories) {
    return create(sources, ComponentPlaces{{}, {}, linked_in, directories});
}

Result<std::unique_ptr<Core>> Core::create(const ParamSources& sources, ComponentPlaces places) {
    auto core = std::make_unique<Core>();
    if (Status read = core->params.read(sources); !read) {
        return read.error();
    }
    if (Status defined = core->params.define("", "", core_params); !defined) {
        return defined.error();
    }
    set_log_level(int(core->params.at("verbose").as_int()));
    core->decisions.enable(core->params.at("explain").as_bool());
    core->faults.fail_at(int(core->params.at("fault_step").as_int()));
    places.wanted_directories = directories_of(core->params.at("component_path"));
    if (Status scanned = core->components.scan(places, core->params); !scanned) {
        return scanned.error();
    }
    return core;
}

Status Core::report_unknown_params() {
    std::string errors;
    const auto note = [&](const Status& defined) {
        if (!defined) {
            errors += (errors.empty() ? "" : "\n") + defined.error().text;
        }
    };
    const auto unknown =
        params.take_unknown([&](const std::string& name) { note(components.define_params_for(name, params)); },
            [&] {
                // What is ill-typed here was either reported already or belongs to no unknown name.
                (void)components.define_all_params(params);
            });
    for (const std::string& text : unknown) {
        log_warn_job(text);
    }
    return errors.empty() ? Status() : Status(Error{Errc::invalid, std::move(errors)});
}

void Core::define_tool_tables() {
    tool.define("", "", CoreSource::tables());
    components.define_all_tool_tables(tool);
}

void Core::note_selected(std::string_view framework, std::string_view component, int priority) noexcept {
    EventPoint& point = _inside->source.component_selected();
    if (!point.wanted()) [[likely]] {
        return;
    }
    const auto& installed = components.installed();
    for (std::size_t i = 0; i < installed.size(); ++i) {
        if (installed[i].framework == framework && installed[i].name == component) {
            point.raise(nullptr, {std::int64_t(i), priority});
        }
    }
}

std::string Core::take_explanation() {
    if (!decisions.enabled()) {
        return {};
    }
    std::string text = decisions.take_table();
    if (!_inside->params_explained) {
        _inside->params_explained = true;
        text += non_default_params_table(params);
    }
    return text;
}

} // namespace patchbay
