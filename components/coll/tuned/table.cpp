// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/table.h"

#include "components/coll/tuned/json_lines.h"
#include "core/base/strings.h"

#include <array>
#include <bit>
#include <cstdio>
#include <memory>

namespace patchbay::coll::tuned {

namespace {

using Kind = JsonValue::Kind;

constexpr std::array<const char*, form_count> form_names{"blocking", "nonblocking", "persistent"};

// The first error of a file.
class Reading {
public:
    explicit Reading(const std::string& file)
        : _file(file) {}

    bool failed() const noexcept { return !_text.empty(); }
    Error error() const { return {Errc::invalid, _text}; }
    void fail(const JsonValue& where, const std::string& text) {
        if (!failed()) {
            _text = _file + ":" + std::to_string(where.line) + ": " + text;
        }
    }
    bool expect(const JsonValue& value, Kind kind, const std::string& what) {
        if (value.kind != kind) {
            fail(value, what);
        }
        return value.kind == kind;
    }

private:
    const std::string& _file;
    std::string _text;
};

std::vector<std::string> served_names() {
    std::vector<std::string> names;
    for (std::size_t f = 0; f < function_count; ++f) {
        if (served.has(Function(f))) {
            names.emplace_back(function_name(Function(f)));
        }
    }
    return names;
}

std::optional<Function> function_of(const std::string& name) {
    for (std::size_t f = 0; f < function_count; ++f) {
        if (served.has(Function(f)) && name == function_name(Function(f))) {
            return Function(f);
        }
    }
    return std::nullopt;
}

std::uint64_t read_size(Reading& reading, const JsonValue& value, const std::string& name) {
    if (value.kind == Kind::number) {
        return value.number;
    }
    if (reading.expect(value, Kind::text, name + " is a number of bytes or a text such as \"64KiB\"")) {
        const auto size = parse_size(value.text);
        if (size) {
            return size.value();
        }
        reading.fail(value, name + ": " + size.error().text);
    }
    return 0;
}

bool read_boolean(Reading& reading, const JsonValue& value, const std::string& name) {
    return reading.expect(value, Kind::boolean, name + " is true or false") && value.boolean;
}

// [least, most], or one number.
void read_ranks(Reading& reading, const JsonValue& value, Rule& rule) {
    const auto fits = [](const JsonValue& number) {
        return number.kind == Kind::number && number.number <= std::uint64_t(std::numeric_limits<int>::max());
    };
    if (fits(value)) {
        rule.least_ranks = rule.most_ranks = int(value.number);
    } else if (value.kind == Kind::array && value.items.size() == 2 && fits(value.items[0]) && fits(value.items[1])) {
        rule.least_ranks = int(value.items[0].number);
        rule.most_ranks = int(value.items[1].number);
    } else {
        reading.fail(value, "ranks is a number, or a list of the least and the most: [3, 8]");
    }
    if (rule.least_ranks > rule.most_ranks) {
        reading.fail(value, "ranks: the least is more than the most");
    }
}

void read_radix(Reading& reading, const JsonValue& value, Rule& rule) {
    const bool fits = value.kind == Kind::number && std::has_single_bit(value.number) && value.number >= 2 &&
        value.number <= std::uint64_t(most_radix);
    if (fits) {
        rule.choice.radix = int(value.number);
    } else {
        reading.fail(value, "radix is 2, 4, 8, 16, 32 or 64");
    }
}

void read_forms(Reading& reading, const JsonValue& value, Rule& rule) {
    if (!reading.expect(value, Kind::array, "forms is a list of blocking, nonblocking, persistent")) {
        return;
    }
    rule.forms = 0;
    for (const JsonValue& item : value.items) {
        for (std::size_t form = 0; form < form_count; ++form) {
            if (item.kind == Kind::text && item.text == form_names[form]) {
                rule.forms |= std::uint8_t(1u << form);
            }
        }
    }
    if (std::size_t(std::popcount(rule.forms)) != value.items.size()) {
        reading.fail(value, "forms is a list of blocking, nonblocking, persistent");
    }
}

void read_algorithm(Reading& reading, const JsonValue& value, Rule& rule) {
    if (!reading.expect(value, Kind::text, "use is the name of an algorithm")) {
        return;
    }
    const auto algorithm = algorithm_of(value.text);
    if (!algorithm || !has_algorithm(rule.function, *algorithm)) {
        std::vector<std::string> known = split(algorithm_choices(rule.function), ',');
        known.erase(known.begin()); // "table"
        reading.fail(value,
            std::string(function_name(rule.function)) + " has no algorithm '" + value.text + "'" +
                suggestion(value.text, known) + " (known: " + join(known, ", ") + ")");
        return;
    }
    rule.choice.algorithm = *algorithm;
}

void read_member(Reading& reading, const std::string& name, const JsonValue& value, Rule& rule) {
    if (name == "use") {
        read_algorithm(reading, value, rule);
    } else if (name == "bytes_below") {
        rule.bytes_below = read_size(reading, value, name);
    } else if (name == "ranks") {
        read_ranks(reading, value, rule);
    } else if (name == "forms") {
        read_forms(reading, value, rule);
    } else if (name == "commutative") {
        rule.commutative = read_boolean(reading, value, name);
    } else if (name == "power_of_two") {
        rule.power_of_two = read_boolean(reading, value, name);
    } else if (name == "shared_cores") {
        rule.shared_cores = read_boolean(reading, value, name);
    } else if (name == "radix") {
        read_radix(reading, value, rule);
    } else if (name == "segment") {
        rule.choice.segment = read_size(reading, value, name);
    } else if (name != "note") {
        static const std::vector<std::string> known{"use", "bytes_below", "ranks", "forms", "commutative",
            "power_of_two", "shared_cores", "segment", "radix", "note"};
        reading.fail(value, "unknown '" + name + "'" + suggestion(name, known) + " (known: " + join(known, ", ") + ")");
    }
}

Rule read_rule(Reading& reading, Function function, const JsonValue& value) {
    Rule rule;
    rule.function = function;
    if (!reading.expect(value, Kind::object, "a rule is an object: {\"bytes_below\": \"4KiB\", \"use\": \"linear\"}")) {
        return rule;
    }
    bool has_use = false;
    for (const auto& [name, member] : value.members) {
        has_use = has_use || name == "use";
        read_member(reading, name, member, rule);
    }
    if (!has_use) {
        reading.fail(value, "the rule has no \"use\"");
    }
    if (rule.choice.algorithm == Algorithm::chain && rule.choice.segment == 0) {
        reading.fail(value, "chain needs a segment of at least one byte");
    }
    return rule;
}

} // namespace

Result<Table> Table::parse(std::string_view text, const std::string& file) {
    const auto json = parse_json(text, file);
    if (!json) {
        return json.error();
    }
    Reading reading(file);
    std::vector<Rule> found;
    reading.expect(json.value(), Kind::object, "a decision table is an object of functions");
    for (const auto& [name, rules] : json.value().members) {
        if (name == "note") {
            continue;
        }
        const auto function = function_of(name);
        if (!function) {
            const std::vector<std::string> known = served_names();
            reading.fail(rules,
                "coll/tuned does not serve '" + name + "'" + suggestion(name, known) +
                    " (it serves: " + join(known, ", ") + ")");
        } else if (reading.expect(rules, Kind::array, name + " is a list of rules")) {
            for (const JsonValue& rule : rules.items) {
                found.push_back(read_rule(reading, *function, rule));
            }
        }
    }
    if (reading.failed()) {
        return reading.error();
    }
    Table table;
    table._read = std::move(found);
    return table;
}

Result<Table> Table::read(const std::string& file) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "re"), std::fclose);
    std::string text;
    char buffer[4096];
    while (stream != nullptr && !std::feof(stream.get()) && !std::ferror(stream.get())) {
        text.append(buffer, std::fread(buffer, 1, sizeof(buffer), stream.get()));
    }
    if (stream == nullptr || std::ferror(stream.get())) {
        return Error{Errc::not_found, "the decision table " + file + " cannot be read (parameter coll_tuned_table)"};
    }
    return parse(text, file);
}

std::string describe_conditions(const Rule& rule) {
    std::vector<std::string> phrases;
    const int unbounded = std::numeric_limits<int>::max();
    if (rule.least_ranks == rule.most_ranks) {
        phrases.push_back(std::to_string(rule.least_ranks) + " ranks");
    } else if (rule.most_ranks != unbounded) {
        phrases.push_back(std::to_string(rule.least_ranks) + " to " + std::to_string(rule.most_ranks) + " ranks");
    } else if (rule.least_ranks > 0) {
        phrases.push_back(std::to_string(rule.least_ranks) + " ranks or more");
    }
    if (rule.bytes_below != std::numeric_limits<std::uint64_t>::max()) {
        phrases.push_back("below " + format_size(rule.bytes_below));
    }
    const auto add = [&phrases](std::optional<bool> condition, const char* yes, const char* no) {
        if (condition) {
            phrases.emplace_back(*condition ? yes : no);
        }
    };
    add(rule.commutative, "commutative op", "op that does not commute");
    add(rule.power_of_two, "a power of two", "no power of two");
    add(rule.shared_cores, "shared cores", "a core for each rank");
    for (std::size_t form = 0; rule.forms != 7 && form < form_count; ++form) {
        if ((rule.forms >> form & 1) != 0) {
            phrases.emplace_back(form_names[form]);
        }
    }
    return phrases.empty() ? "all other calls" : join(phrases, ", ");
}

std::string describe_choice(const Choice& choice) {
    std::string text(algorithm_name(choice.algorithm));
    text += choice.segment == 0 ? "" : ", segments of " + format_size(choice.segment);
    text += choice.radix == 2 ? "" : ", radix " + std::to_string(choice.radix);
    return text;
}

} // namespace patchbay::coll::tuned
