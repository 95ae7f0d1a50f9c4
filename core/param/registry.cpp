// SPDX-License-Identifier: BSD-3-Clause
#include "core/param/registry.h"

#include "core/base/strings.h"
#include "core/log.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace patchbay {

namespace {

std::string full_name(std::string_view framework, std::string_view component, std::string_view name) {
    std::string result;
    result.reserve(framework.size() + component.size() + name.size() + 2); // each process makes hundreds of names
    result += framework;
    for (const std::string_view part : {component, name}) {
        if (!part.empty()) {
            result += result.empty() ? "" : "_";
            result += part;
        }
    }
    return result;
}

// As a user would write the value.
Result<std::string> text_of_number(const Param& param, std::int64_t number) {
    switch (param.type()) {
    case ParamType::boolean:
        return std::string(number != 0 ? "true" : "false");
    case ParamType::duration:
        return std::to_string(number) + "ns";
    case ParamType::enumeration:
        if (number >= 0 && number < std::int64_t(param.choices().size())) {
            return param.choices()[std::size_t(number)];
        }
        break;
    case ParamType::integer:
    case ParamType::size:
        return std::to_string(number);
    case ParamType::string:
    case ParamType::list:
        break;
    }
    return Error{Errc::invalid, "parameter " + param.name() + " has no value " + std::to_string(number)};
}

} // namespace

Status ParamRegistry::read(const ParamSources& places) {
    auto raw = read_param_sources(places);
    if (!raw) {
        return raw.error();
    }
    const std::unique_lock lock(_mutex);
    _raw = std::move(*raw);
    return {};
}

Status ParamRegistry::check_table(
    std::string_view framework, std::string_view component, const ParamSpec* specs, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const Param param(full_name(framework, component, specs[i].name == nullptr ? "" : specs[i].name), framework,
            component, specs[i]);
        auto initial = param.parse(param.default_text(), ParamSource::default_value, "default");
        if (!initial) {
            return Error{Errc::invalid, "bad parameter table: " + initial.error().text};
        }
        if (Status fits = param.check_range(initial->number, param.default_text()); !fits) {
            return Error{Errc::invalid, "bad parameter table: parameter " + param.name() + ": " + fits.error().text};
        }
    }
    return {};
}

Status ParamRegistry::define(
    std::string_view framework, std::string_view component, const ParamSpec* specs, std::size_t count) {
    const std::unique_lock lock(_mutex);
    std::string errors;
    for (std::size_t i = 0; i < count; ++i) {
        if (Status defined = define_one(framework, component, specs[i]); !defined) {
            errors += (errors.empty() ? "" : "\n") + defined.error().text;
        }
    }
    return errors.empty() ? Status() : Status(Error{Errc::invalid, std::move(errors)});
}

Status ParamRegistry::define_one(std::string_view framework, std::string_view component, const ParamSpec& spec) {
    const std::string name = full_name(framework, component, spec.name == nullptr ? "" : spec.name);
    const auto place = _by_name.lower_bound(name);
    if (place != _by_name.end() && place->first == name) {
        const Param& other = *place->second;
        if (other.framework() == framework && other.component() == component) {
            const auto ill_typed = _ill_typed.find(name);
            return ill_typed == _ill_typed.end() ? Status() : Status(ill_typed->second);
        }
        return Error{Errc::invalid,
            "parameter " + name + " of component " + full_name(framework, component, "") + " is already defined by " +
                full_name(other.framework(), other.component(), "")};
    }
    std::unique_ptr<Param> param(new Param(name, framework, component, spec));
    auto initial = param->parse(param->default_text(), ParamSource::default_value, "default");
    if (!initial) {
        return Error{Errc::invalid, "bad parameter table: " + initial.error().text};
    }
    param->adopt(std::move(*initial));
    Status status;
    if (const auto raw = _raw.find(name); raw != _raw.end()) {
        auto given = param->parse(raw->second.value, raw->second.source, raw->second.origin);
        if (given) {
            param->adopt(std::move(*given));
        } else {
            status = given.error();
            _ill_typed.emplace(name, given.error());
        }
    }
    param->_frozen.store(_frozen.contains(framework), std::memory_order_release);
    _by_name.emplace_hint(place, param->name(), param.get());
    _params.push_back(std::move(param));
    return status;
}

const Param* ParamRegistry::find_locked(std::string_view name) const {
    const auto found = _by_name.find(name);
    return found == _by_name.end() ? nullptr : found->second;
}

const Param* ParamRegistry::find(std::string_view name) const {
    const std::shared_lock lock(_mutex);
    return find_locked(name);
}

const Param& ParamRegistry::at(std::string_view name) const {
    const Param* param = find(name);
    if (param == nullptr) {
        log_error("bug: parameter " + std::string(name) + " is read but no table defines it");
        std::abort();
    }
    return *param;
}

std::size_t ParamRegistry::count() const {
    const std::shared_lock lock(_mutex);
    return _params.size();
}

const Param& ParamRegistry::by_index(std::size_t index) const {
    const std::shared_lock lock(_mutex);
    return *_params[index];
}

std::vector<std::string> ParamRegistry::names() const {
    const std::shared_lock lock(_mutex);
    std::vector<std::string> result;
    for (const auto& [name, param] : _by_name) {
        result.emplace_back(name);
    }
    return result;
}

bool ParamRegistry::gives_any(std::string_view prefix) const {
    const std::shared_lock lock(_mutex);
    if (const auto raw = _raw.lower_bound(prefix); raw != _raw.end() && raw->first.starts_with(prefix)) {
        return true;
    }
    return std::ranges::any_of(
        _params, [&](const auto& param) { return param->name().starts_with(prefix) && !param->is_default(); });
}

Status ParamRegistry::set(std::string_view name, std::string_view value) {
    if (find(name) == nullptr) {
        return Error{Errc::not_found, "there is no parameter " + std::string(name) + suggestion(name, names())};
    }
    const std::unique_lock lock(_mutex);
    return set_locked(*_by_name.find(name)->second, value, std::nullopt);
}

Status ParamRegistry::set_number(std::string_view name, std::int64_t number) {
    const Param* param = find(name);
    if (param == nullptr) {
        return set(name, {}); // which has the text of the error
    }
    const std::unique_lock lock(_mutex);
    auto text = text_of_number(*param, number);
    if (!text) {
        return text.error();
    }
    const bool keeps = param->type() == ParamType::boolean;
    return set_locked(
        *_by_name.find(name)->second, *text, keeps ? std::optional(number) : std::optional<std::int64_t>());
}

Status ParamRegistry::set_locked(Param& param, std::string_view value, std::optional<std::int64_t> number) {
    if (param.frozen() || param.scope() == ParamScope::constant || param.scope() == ParamScope::read_only) {
        return Error{Errc::not_available,
            "parameter " + param.name() + " cannot be set to '" + std::string(value) + "' " +
                (param.frozen() ? "any more: it is in use" : "by the program")};
    }
    auto parsed = param.parse(value, ParamSource::program, "program");
    if (!parsed) {
        return parsed.error();
    }
    parsed->number = number.value_or(parsed->number);
    param.adopt(std::move(*parsed));
    _ill_typed.erase(param.name());
    return {};
}

void ParamRegistry::freeze(std::string_view framework) {
    const std::unique_lock lock(_mutex);
    _frozen.emplace(framework);
    for (const auto& param : _params) {
        if (param->framework() == framework) {
            param->_frozen.store(true, std::memory_order_release);
        }
    }
}

void ParamRegistry::thaw(std::string_view framework) {
    const std::unique_lock lock(_mutex);
    if (const auto found = _frozen.find(framework); found != _frozen.end()) {
        _frozen.erase(found);
    }
    for (const auto& param : _params) {
        if (param->framework() == framework) {
            param->_frozen.store(false, std::memory_order_release);
        }
    }
}

std::vector<std::string> ParamRegistry::undefined() const {
    const std::shared_lock lock(_mutex);
    std::vector<std::string> result;
    for (const auto& [name, raw] : _raw) {
        if (!_by_name.contains(name) && !_reported.contains(name)) {
            result.push_back(name);
        }
    }
    return result;
}

std::vector<std::string> ParamRegistry::take_unknown(
    const std::function<void(const std::string& name)>& define_more, const std::function<void()>& define_all) {
    for (const std::string& name : undefined()) {
        define_more(name);
    }
    if (undefined().empty()) {
        return {};
    }
    define_all();
    const std::vector<std::string> known = names();
    std::vector<std::string> result;
    for (const std::string& name : undefined()) {
        const std::unique_lock lock(_mutex);
        const RawParam& raw = _raw.find(name)->second;
        result.push_back(
            "unknown parameter " + name + " = '" + raw.value + "' [" + raw.origin + "]" + suggestion(name, known));
        _reported.insert(name);
    }
    return result;
}

} // namespace patchbay
