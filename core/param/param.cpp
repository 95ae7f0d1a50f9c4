// SPDX-License-Identifier: BSD-3-Clause
#include "core/param/param.h"

#include "core/base/strings.h"
#include "core/log.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace patchbay {

namespace {

// A caller that reads a parameter as another type than that of its table has a bug.
void expect(const Param& param, bool fits, const char* wanted) noexcept {
    if (!fits) {
        log_error(
            "bug: parameter " + param.name() + " is of type " + to_string(param.type()) + " and was read as " + wanted);
        std::abort();
    }
}

const char* or_empty(const char* text) {
    return text == nullptr ? "" : text;
}

Result<std::int64_t> parse_choice(std::string_view text, const std::vector<std::string>& choices) {
    const std::string_view wanted = trim(text);
    const auto found = std::find(choices.begin(), choices.end(), wanted);
    if (found == choices.end()) {
        return Error{Errc::invalid,
            "'" + std::string(wanted) + "' is not one of " + join(choices, ", ") + suggestion(wanted, choices)};
    }
    return std::int64_t(found - choices.begin());
}

template <class T>
Result<std::int64_t> as_number(const Result<T>& parsed) {
    if (!parsed) {
        return parsed.error();
    }
    return std::int64_t(parsed.value());
}

Result<std::int64_t> parse_number(ParamType type, std::string_view text, const std::vector<std::string>& choices) {
    switch (type) {
    case ParamType::boolean:
        return as_number(parse_bool(text));
    case ParamType::integer:
        return parse_int(text);
    case ParamType::size:
        return as_number(parse_size(text));
    case ParamType::duration: {
        auto parsed = parse_duration(text);
        return parsed ? Result<std::int64_t>(parsed->count()) : Result<std::int64_t>(parsed.error());
    }
    case ParamType::enumeration:
        return parse_choice(text, choices);
    case ParamType::string:
    case ParamType::list:
        break;
    }
    return std::int64_t(0);
}

constexpr std::string_view range_separator = "..";

constexpr bool has_range(ParamType type) noexcept {
    return type == ParamType::integer || type == ParamType::size || type == ParamType::duration;
}

// One end of a range; `unlimited` where it is left out.
Result<std::int64_t> parse_bound(ParamType type, std::string_view text, std::int64_t unlimited) {
    return text.empty() ? Result<std::int64_t>(unlimited) : parse_number(type, text, {});
}

} // namespace

const char* to_string(ParamSource source) {
    switch (source) {
    case ParamSource::default_value:
        return "default";
    case ParamSource::system_file:
        return "system file";
    case ParamSource::user_file:
        return "user file";
    case ParamSource::environment:
        return "environment";
    case ParamSource::command_line:
        return "command line";
    case ParamSource::program:
        return "program";
    }
    return "?";
}

const char* to_string(ParamType type) {
    switch (type) {
    case ParamType::boolean:
        return "bool";
    case ParamType::integer:
        return "int";
    case ParamType::size:
        return "size";
    case ParamType::duration:
        return "duration";
    case ParamType::string:
        return "string";
    case ParamType::enumeration:
        return "enum";
    case ParamType::list:
        return "list";
    }
    return "?";
}

const char* to_string(ParamScope scope) {
    switch (scope) {
    case ParamScope::constant:
        return "constant";
    case ParamScope::read_only:
        return "read_only";
    case ParamScope::local:
        return "local";
    case ParamScope::group:
        return "group";
    case ParamScope::group_equal:
        return "group_equal";
    case ParamScope::all:
        return "all";
    case ParamScope::all_equal:
        return "all_equal";
    }
    return "?";
}

Param::Param(std::string full_name, std::string_view framework, std::string_view component, const ParamSpec& spec)
    : _name(std::move(full_name)),
      _framework(framework),
      _component(component),
      _help(or_empty(spec.help)),
      _default(or_empty(spec.default_value)),
      _choices(spec.type == ParamType::enumeration ? split(or_empty(spec.allowed), ',') : std::vector<std::string>()),
      _range(has_range(spec.type) ? or_empty(spec.allowed) : ""),
      _type(spec.type),
      _level(spec.level),
      _scope(spec.scope) {}

bool Param::as_bool() const noexcept {
    expect(*this, _type == ParamType::boolean, "bool");
    return value().number != 0;
}

std::int64_t Param::as_int() const noexcept {
    expect(*this, _type == ParamType::integer, "int");
    return value().number;
}

std::size_t Param::as_size() const noexcept {
    expect(*this, _type == ParamType::size, "size");
    return std::size_t(value().number);
}

std::chrono::nanoseconds Param::as_duration() const noexcept {
    expect(*this, _type == ParamType::duration, "duration");
    return std::chrono::nanoseconds(value().number);
}

const std::string& Param::as_string() const noexcept {
    expect(*this, _type == ParamType::string || _type == ParamType::enumeration, "string");
    return value().text;
}

const std::vector<std::string>& Param::as_list() const noexcept {
    expect(*this, _type == ParamType::list, "list");
    return value().items;
}

std::size_t Param::as_enum() const noexcept {
    expect(*this, _type == ParamType::enumeration, "enum");
    return std::size_t(value().number);
}

Status Param::check_range(std::int64_t number, std::string_view text) const {
    if (_range.empty()) {
        return {};
    }
    const std::string_view range = _range;
    const std::size_t dots = range.find(range_separator);
    if (dots == std::string_view::npos) {
        return Error{Errc::invalid, "its range '" + _range + "' is not of the form lowest..highest"};
    }
    auto lowest = parse_bound(_type, range.substr(0, dots), std::numeric_limits<std::int64_t>::min());
    auto highest =
        parse_bound(_type, range.substr(dots + range_separator.size()), std::numeric_limits<std::int64_t>::max());
    if (!lowest || !highest) {
        return Error{Errc::invalid, "its range '" + _range + "': " + (lowest ? highest : lowest).error().text};
    }
    if (number < *lowest || number > *highest) {
        return Error{Errc::invalid, "'" + std::string(trim(text)) + "' is not in the range " + _range};
    }
    return {};
}

Result<ParamValue> Param::parse(std::string_view text, ParamSource source, std::string origin) const {
    ParamValue parsed;
    auto number = parse_number(_type, text, _choices);
    // Each process parses hundreds of default values: their ranges are left to check_table().
    const Status in_range = number && source != ParamSource::default_value ? check_range(*number, text) : Status();
    if (!number || !in_range) {
        return Error{Errc::invalid,
            "parameter " + _name + " (" + to_string(_type) + "): " + (number ? in_range.error() : number.error()).text +
                " [" + origin + "]"};
    }
    parsed.number = *number;
    if (_type == ParamType::list) {
        parsed.items = split(text, ',');
    }
    parsed.text = _type == ParamType::string ? std::string(text) : std::string(trim(text));
    parsed.source = source;
    parsed.origin = std::move(origin);
    return parsed;
}

void Param::adopt(ParamValue value) {
    // A program that sets the same few values again and again must not grow the list.
    for (const auto& earlier : _values) {
        if (earlier->text == value.text && earlier->source == value.source && earlier->number == value.number) {
            _value.store(earlier.get(), std::memory_order_release);
            return;
        }
    }
    _values.push_back(std::make_unique<const ParamValue>(std::move(value)));
    _value.store(_values.back().get(), std::memory_order_release);
}

} // namespace patchbay
