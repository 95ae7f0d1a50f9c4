// SPDX-License-Identifier: BSD-3-Clause
#include "core/tool/registry.h"

#include "core/base/strings.h"

#include <algorithm>
#include <time.h>

namespace patchbay {

namespace {

std::string full_name(std::string_view framework, std::string_view component, const char* name) {
    std::string result(framework);
    for (const std::string_view part : {component, std::string_view(name)}) {
        if (!part.empty()) {
            result += result.empty() ? "" : "_";
            result += part;
        }
    }
    return result;
}

} // namespace

std::int64_t EventPoint::now() noexcept {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void EventPoint::raise_at(std::int64_t time, const void* object, std::span<const std::int64_t> values) noexcept {
    EventSink* sink = wanted() ? _registry->_sink.load(std::memory_order_acquire) : nullptr;
    if (sink != nullptr) {
        sink->deliver(_event, object, values, time);
    }
}

void EventPoint::drop(const void* object) noexcept {
    EventSink* sink = wanted() ? _registry->_sink.load(std::memory_order_acquire) : nullptr;
    if (sink != nullptr) {
        sink->drop(_event, object);
    }
}

bool ToolRegistry::belongs(
    const ToolSource& source, const std::string& framework, const std::string& component) const noexcept {
    return framework == source.framework() && component == source.component();
}

// Passes to the source what tools have started before it was there, or takes that back.
void ToolRegistry::connect(ToolSource& source, bool on) noexcept {
    for (std::size_t i = 0; i < _variables.size(); ++i) {
        const Variable& variable = _variables[i];
        if (_counted[i].users != 0 && belongs(source, variable.framework, variable.component)) {
            source.count(variable.row, on);
        }
    }
    for (const Tracked& tracked : _tracked) {
        const Variable& variable = _variables[tracked.variable];
        if (belongs(source, variable.framework, variable.component)) {
            source.track(variable.row, *tracked.mark, on);
        }
    }
    for (std::size_t i = 0; i < _events.size(); ++i) {
        const Event& event = _events[i];
        const std::span<EventPoint> points = source.events();
        if (event.row < points.size() && belongs(source, event.framework, event.component)) {
            EventPoint& point = points[event.row];
            point._registry = this;
            point._event = i;
            point._wanted.store(on && _wanted[i], std::memory_order_release);
        }
    }
}

void ToolRegistry::add(ToolSource& source) {
    const std::lock_guard lock(_mutex);
    _sources.push_back(&source);
    connect(source, true);
}

void ToolRegistry::remove(ToolSource& source) noexcept {
    const std::lock_guard lock(_mutex);
    if (std::erase(_sources, &source) != 0) {
        keep_past(source);
        connect(source, false);
    }
}

// A total does not shrink when the library is finalized.
void ToolRegistry::keep_past(ToolSource& source) noexcept {
    for (std::size_t i = 0; i < _variables.size(); ++i) {
        const Variable& variable = _variables[i];
        if (!is_total(variable.variable_class) || variable.binding != Binding::none ||
            !belongs(source, variable.framework, variable.component)) {
            continue;
        }
        for (std::uint32_t element = 0; element < variable.elements; ++element) {
            _counted[i].past[element] += source.read(variable.row, nullptr, element).value_or(0);
        }
    }
}

void ToolRegistry::define(std::string_view framework, std::string_view component, const ToolTables& tables) {
    const std::lock_guard lock(_mutex);
    const auto same = [&](const auto& known) { return known.framework == framework && known.component == component; };
    if (std::any_of(_variables.begin(), _variables.end(), same) || std::any_of(_events.begin(), _events.end(), same)) {
        return;
    }
    for (std::size_t row = 0; row < tables.variable_count; ++row) {
        const VariableSpec& spec = tables.variables[row];
        _variables.push_back(
            {std::string(framework), std::string(component), full_name(framework, component, spec.name), spec.help,
                spec.choices == nullptr ? std::vector<std::string>() : split(spec.choices, ','), spec.variable_class,
                spec.counting, spec.binding, spec.elements, spec.level, row});
        _counted.emplace_back().past.resize(spec.elements);
    }
    for (std::size_t row = 0; row < tables.event_count; ++row) {
        const EventSpec& spec = tables.events[row];
        Event& event = _events.emplace_back(Event{std::string(framework), std::string(component),
            full_name(framework, component, spec.name), spec.help, {}, {}, spec.binding, spec.level, row});
        for (const EventElement& element : std::span(spec.elements, spec.element_count)) {
            event.elements.push_back(element.type);
            event.element_names.emplace_back(element.name);
        }
        _wanted.push_back(false);
    }
    for (ToolSource* source : _sources) {
        if (framework == source->framework() && component == source->component()) {
            connect(*source, true);
        }
    }
}

std::size_t ToolRegistry::variable_count() const {
    const std::lock_guard lock(_mutex);
    return _variables.size();
}

const ToolRegistry::Variable& ToolRegistry::variable(std::size_t index) const {
    const std::lock_guard lock(_mutex);
    return _variables[index];
}

std::size_t ToolRegistry::event_count() const {
    const std::lock_guard lock(_mutex);
    return _events.size();
}

const ToolRegistry::Event& ToolRegistry::event(std::size_t index) const {
    const std::lock_guard lock(_mutex);
    return _events[index];
}

std::optional<std::uint64_t> ToolRegistry::read(
    std::size_t index, const void* object, std::size_t element) const noexcept {
    const std::lock_guard lock(_mutex);
    const Variable& variable = _variables[index];
    std::optional<std::uint64_t> sum;
    if (is_total(variable.variable_class) && variable.binding == Binding::none) {
        sum = _counted[index].past[element];
    }
    for (ToolSource* source : _sources) {
        if (!belongs(*source, variable.framework, variable.component)) {
            continue;
        }
        if (const auto value = source->read(variable.row, object, element)) {
            sum = sum.value_or(0) + *value;
        }
    }
    return sum;
}

void ToolRegistry::count(std::size_t index, bool on) noexcept {
    const std::lock_guard lock(_mutex);
    std::uint32_t& users = _counted[index].users;
    const bool was_on = users != 0;
    users += on ? 1 : -1;
    if (was_on == (users != 0)) {
        return;
    }
    const Variable& variable = _variables[index];
    for (ToolSource* source : _sources) {
        if (belongs(*source, variable.framework, variable.component)) {
            source->count(variable.row, on);
        }
    }
}

void ToolRegistry::track(std::size_t index, Watermark& mark) {
    mark.store(read(index, nullptr, 0).value_or(0));
    const std::lock_guard lock(_mutex);
    _tracked.push_back({index, &mark});
    const Variable& variable = _variables[index];
    for (ToolSource* source : _sources) {
        if (belongs(*source, variable.framework, variable.component)) {
            source->track(variable.row, mark, true);
        }
    }
}

void ToolRegistry::untrack(std::size_t index, Watermark& mark) noexcept {
    const std::lock_guard lock(_mutex);
    std::erase_if(_tracked, [&](const Tracked& tracked) { return tracked.mark == &mark; });
    const Variable& variable = _variables[index];
    for (ToolSource* source : _sources) {
        if (belongs(*source, variable.framework, variable.component)) {
            source->track(variable.row, mark, false);
        }
    }
}

void ToolRegistry::want(std::size_t index, bool on) noexcept {
    const std::lock_guard lock(_mutex);
    _wanted[index] = on;
    const Event& event = _events[index];
    for (ToolSource* source : _sources) {
        const std::span<EventPoint> points = source->events();
        if (event.row < points.size() && belongs(*source, event.framework, event.component)) {
            points[event.row]._wanted.store(on, std::memory_order_release);
        }
    }
}

} // namespace patchbay
