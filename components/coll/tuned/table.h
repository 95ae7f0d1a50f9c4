// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/tuned/algorithm.h"
#include "core/base/result.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::coll::tuned {

// One line of a decision table: for which calls it is, and which algorithm they use. A condition that is not set admits
// every call. All of them are about what is equal in all members of a communicator.
struct Rule {
    Function function = Function::bcast;
    std::uint8_t forms = 7; // bit f: form f
    int least_ranks = 0;
    int most_ranks = std::numeric_limits<int>::max();
    std::uint64_t bytes_below = std::numeric_limits<std::uint64_t>::max();
    std::optional<bool> commutative = std::nullopt;
    std::optional<bool> power_of_two = std::nullopt; // the number of ranks
    std::optional<bool> shared_cores = std::nullopt; // the ranks of the node are more than its cores
    Choice choice = {};

    bool operator==(const Rule&) const = default;
};

// The rules of coll_tuned.json in this folder, which the build translates (rules_of_table.py), so that no process has
// to read them.
std::span<const Rule> built_in_rules() noexcept;

// The built-in rules, or those of a file. For a call the first rule of its function that admits it, and whose algorithm
// applies to it, is taken; without one the call is passed on.
class Table {
public:
    // The text of a file. Errc::invalid: the text is no decision table; the error has the line.
    static Result<Table> parse(std::string_view text, const std::string& file);
    // Errc::not_found: the file cannot be read. Errc::invalid, as above.
    static Result<Table> read(const std::string& file);

    std::span<const Rule> rules() const noexcept { return _read ? std::span<const Rule>(*_read) : built_in_rules(); }

private:
    std::optional<std::vector<Rule>> _read;
};

// The conditions and the algorithm of a rule as phrases: "2 to 8 ranks, below 4KiB", "halves".
std::string describe_conditions(const Rule& rule);
std::string describe_choice(const Choice& choice);

// The rules of one function that can admit calls on communicators of one size, in their order.
class Decisions {
public:
    void add(const Rule& rule) { _lines.push_back({rule.bytes_below, rule.forms, rule.commutative, rule.choice}); }
    // `bytes` as README.md says for each function.
    Choice choose(Function function, Form form, int ranks, std::uint64_t bytes, bool commutative) const noexcept {
        for (const Line& line : _lines) {
            if (bytes < line.bytes_below && (line.forms >> unsigned(form) & 1) != 0 &&
                line.commutative.value_or(commutative) == commutative &&
                applies(function, line.choice.algorithm, ranks, commutative)) {
                return line.choice;
            }
        }
        return {};
    }
    // All calls of that form with fewer bytes, whatever their op, have a choice for which fits(choice) is true.
    template <class Fits>
    std::uint64_t all_below(Form form, const Fits& fits) const noexcept {
        std::uint64_t below = 0;
        for (const Line& line : _lines) {
            if (line.bytes_below <= below || (line.forms >> unsigned(form) & 1) == 0) {
                continue;
            }
            if (line.commutative || !fits(line.choice)) {
                break;
            }
            below = line.bytes_below;
        }
        return below;
    }

private:
    struct Line {
        std::uint64_t bytes_below;
        std::uint8_t forms;
        std::optional<bool> commutative;
        Choice choice;
    };
    std::vector<Line> _lines;
};

} // namespace patchbay::coll::tuned
