// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/pset_definition.h"

#include "core/base/strings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace patchbay {

namespace {

constexpr std::size_t longest_name = 511;
constexpr std::string_view reserved[] = {"mpi://", "mpix://", "mpirun://", "pmix"};

bool begins_with(std::string_view text, std::string_view beginning) {
    return text.size() >= beginning.size() &&
        std::equal(beginning.begin(), beginning.end(), text.begin(),
            [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

bool is_forbidden(unsigned char character) {
    return character <= ' ' || character == 0x7f || character == ',' || character == ';' || character == '=';
}

std::optional<std::uint32_t> parse_rank(std::string_view text) {
    std::uint32_t rank = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && rank < UINT32_MAX ? std::optional(rank) : std::nullopt;
}

std::optional<RankRange> parse_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = parse_rank(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_rank(text.substr(dash + 1));
    return first && last && *first <= *last ? std::optional(RankRange{*first, *last}) : std::nullopt;
}

std::vector<RankRange> in_order(std::vector<RankRange> ranges) {
    std::sort(ranges.begin(), ranges.end(), [](RankRange a, RankRange b) { return a.first < b.first; });
    std::vector<RankRange> merged;
    for (const RankRange& range : ranges) {
        if (!merged.empty() && range.first <= merged.back().last + 1) {
            merged.back().last = std::max(merged.back().last, range.last);
        } else {
            merged.push_back(range);
        }
    }
    return merged;
}

} // namespace

std::vector<std::uint32_t> PsetDefinition::list() const {
    std::vector<std::uint32_t> all;
    for (const RankRange& range : ranks) {
        for (std::uint32_t rank = range.first; rank <= range.last; ++rank) {
            all.push_back(rank);
        }
    }
    return all;
}

Status check_pset_name(std::string_view name) {
    if (name.empty()) {
        return Error{Errc::invalid, "the process set has no name"};
    }
    const std::string quoted = "'" + std::string(name.substr(0, 80)) + "'";
    if (name.size() > longest_name) {
        return Error{
            Errc::invalid, "the name " + quoted + "... is longer than " + std::to_string(longest_name) + " characters"};
    }
    if (std::any_of(name.begin(), name.end(), is_forbidden)) {
        return Error{Errc::invalid, "the name " + quoted + " has a space, ',', ';', '=' or a control character"};
    }
    for (const std::string_view beginning : reserved) {
        if (begins_with(name, beginning)) {
            return Error{Errc::invalid,
                "the name " + quoted + " begins with " + std::string(beginning) + ", which only the system may use"};
        }
    }
    return {};
}

Result<PsetDefinition> parse_pset_definition(std::string_view text) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string_view::npos) {
        return Error{
            Errc::invalid, "'" + std::string(text) + "' has no '='; the form is NAME=RANKS, as in ocean=0-3,6"};
    }
    PsetDefinition definition{std::string(trim(text.substr(0, equals))), {}};
    if (Status name = check_pset_name(definition.name); !name) {
        return name.error();
    }
    const std::string_view ranks = trim(text.substr(equals + 1));
    std::vector<RankRange> ranges;
    for (std::size_t begin = 0; begin <= ranks.size();) {
        const std::size_t end = std::min(ranks.find(',', begin), ranks.size());
        const auto range = parse_range(trim(ranks.substr(begin, end - begin)));
        if (!range) {
            return Error{Errc::invalid,
                "'" + std::string(ranks) + "' is no list of ranks for the process set '" + definition.name +
                    "'; the form is 0-3,6"};
        }
        ranges.push_back(*range);
        begin = end + 1;
    }
    definition.ranks = in_order(std::move(ranges));
    return definition;
}

} // namespace patchbay
