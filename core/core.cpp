// SPDX-License-Identifier: BSD-3-Clause
#include "core/core.h"

#include "core/base/strings.h"
#include "core/component/repository.h"
#include "core/lifetime/fault_plan.h"
#include "core/log.h"

namespace patchbay {

namespace {

constexpr ParamSpec core_params[] = {
    {"verbose", ParamType::integer, "0",
        "how much is said on stderr: 0 errors and warnings, 1 what was chosen, 2 what was tried, 3 details", nullptr,
        ParamLevel::user_basic, ParamScope::local},
    {"explain", ParamType::boolean, "false",
        "print why each component was or was not chosen and where each non-default parameter came from", nullptr,
        ParamLevel::user_basic, ParamScope::local},
    {"component_path", ParamType::list, "",
        "directories to look for components in, before ~/.patchbay/components and the installation; ',' or ':' between",
        nullptr, ParamLevel::user_detail, ParamScope::local},
    {"fault_step", ParamType::integer, "0", "for tests: makes this step of an init fail, counted from 1; 0 none",
        nullptr, ParamLevel::dev_all, ParamScope::local},
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
    bool params_explained = false;
};

Core::Core()
    : _inside(std::make_unique<Inside>()),
      components(_inside->components),
      faults(_inside->faults) {}

Core::~Core() = default;

Result<std::unique_ptr<Core>> Core::create(std::span<const ComponentDescriptor* const> linked_in) {
    return create(linked_in, ParamSources::of_process(), ComponentPlaces::default_directories());
}

Result<std::unique_ptr<Core>> Core::create(std::span<const ComponentDescriptor* const> linked_in,
    const ParamSources& places, const std::vector<std::string>& directories) {
    auto core = std::make_unique<Core>();
    if (Status read = core->params.read(places); !read) {
        return read.error();
    }
    if (Status defined = core->params.define("", "", core_params); !defined) {
        return defined.error();
    }
    set_log_level(int(core->params.at("verbose").as_int()));
    core->decisions.enable(core->params.at("explain").as_bool());
    core->faults.fail_at(int(core->params.at("fault_step").as_int()));
    const ComponentPlaces component_places{linked_in, directories_of(core->params.at("component_path")), directories};
    if (Status scanned = core->components.scan(component_places, core->params); !scanned) {
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
