// SPDX-License-Identifier: BSD-3-Clause
#include "core/explain.h"

#include "core/param/registry.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace patchbay {

namespace {

// Rows under a head; each column as wide as its widest cell, the last one free.
template <std::size_t N>
std::string table(const std::array<std::string, N>& head, const std::vector<std::array<std::string, N>>& rows) {
    std::array<std::size_t, N> width{};
    const auto measure = [&](const std::array<std::string, N>& row) {
        for (std::size_t i = 0; i < N; ++i) {
            width[i] = std::max(width[i], row[i].size());
        }
    };
    measure(head);
    std::for_each(rows.begin(), rows.end(), measure);
    std::string text;
    const auto print = [&](const std::array<std::string, N>& row) {
        for (std::size_t i = 0; i + 1 < N; ++i) {
            text += fmt::format("{:<{}}  ", row[i], width[i]);
        }
        text += row[N - 1] + "\n";
    };
    print(head);
    std::for_each(rows.begin(), rows.end(), print);
    return text;
}

bool same_apart_from_object(const Decision& a, const Decision& b) {
    return a.framework == b.framework && a.candidate == b.candidate && a.outcome == b.outcome &&
        a.priority == b.priority && a.reason == b.reason;
}

} // namespace

const char* to_string(Outcome outcome) {
    switch (outcome) {
    case Outcome::chosen:
        return "chosen";
    case Outcome::lost:
        return "lost";
    case Outcome::declined:
        return "declined";
    case Outcome::excluded:
        return "excluded";
    case Outcome::incompatible:
        return "incompatible";
    case Outcome::wraps:
        return "wraps";
    }
    return "?";
}

void DecisionLog::record(std::string_view framework, std::string_view object, std::string_view candidate,
    Outcome outcome, int priority, std::string_view reason) {
    if (!enabled()) {
        return;
    }
    Decision decision{
        std::string(framework), std::string(object), std::string(candidate), outcome, priority, std::string(reason)};
    const std::lock_guard lock(_mutex);
    for (Decision& earlier : _decisions) {
        if (same_apart_from_object(earlier, decision)) {
            ++earlier.times;
            return;
        }
    }
    _decisions.push_back(std::move(decision));
}

std::vector<Decision> DecisionLog::decisions() const {
    const std::lock_guard lock(_mutex);
    return _decisions;
}

std::string DecisionLog::take_table() {
    const std::lock_guard lock(_mutex);
    if (_shown == _decisions.size()) {
        return {};
    }
    std::vector<std::array<std::string, 6>> rows;
    for (; _shown < _decisions.size(); ++_shown) {
        const Decision& decision = _decisions[_shown];
        const bool ranked = decision.outcome == Outcome::chosen || decision.outcome == Outcome::lost;
        rows.push_back({decision.framework,
            decision.times == 1 ? decision.object : fmt::format("{} and {} more", decision.object, decision.times - 1),
            decision.candidate, to_string(decision.outcome), ranked ? std::to_string(decision.priority) : "-",
            decision.reason});
    }
    return table<6>({"framework", "for", "candidate", "outcome", "priority", "reason"}, rows);
}

std::string non_default_params_table(const ParamRegistry& params) {
    std::vector<std::array<std::string, 4>> rows;
    for (const std::string& name : params.names()) {
        const Param& param = params.at(name);
        if (!param.is_default()) {
            rows.push_back({name, param.text(), param.default_text(), param.origin()});
        }
    }
    return rows.empty() ? std::string() : table<4>({"parameter", "value", "default", "set by"}, rows);
}

} // namespace patchbay
