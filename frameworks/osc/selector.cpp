// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/osc/selector.h"

#include "core/base/strings.h"
#include "core/core.h"

#include <algorithm>
#include <memory>
#include <string_view>

namespace patchbay::osc {

namespace {

// FNV-1a: a number for a name. It is not 0.
std::uint64_t number_of(std::string_view name) noexcept {
    std::uint64_t number = 0xcbf29ce484222325;
    for (const char c : name) {
        number = (number ^ std::uint8_t(c)) * 0x100000001b3;
    }
    return number | 1;
}

bool has(const Selector::Offers& offers, std::uint64_t number) noexcept {
    return std::find(offers.begin(), offers.end(), number) != offers.end();
}

} // namespace

Result<Selector::Candidates> Selector::query(Context& context, const Window& window, const std::string& only) {
    return _framework.select_all(
        window.describe(),
        [&](Component& component) -> Result<patchbay::Choice<None>> {
            if (window.comm->view != nullptr && !has_all(component.capabilities(), Capability::peers_threads)) {
                return Error{Errc::not_available, "it serves processes, and the ranks of this window are threads"};
            }
            auto priority = component.query(context, window);
            if (!priority) {
                return priority.error();
            }
            return patchbay::Choice<None>{*priority, std::make_unique<None>()};
        },
        only);
}

Selector::Offers Selector::offers_of(const Candidates& candidates) noexcept {
    Offers offers{};
    for (std::size_t i = 0; i < std::min(candidates.size(), most_offers); ++i) {
        offers[i] = number_of(candidates[i].name);
    }
    return offers;
}

// The order of rank 0 counts, so that members whose priorities differ agree nevertheless.
void Selector::note_winner(const Window& window, const Candidates& candidates) const {
    _framework.note_winner(window.describe(), candidates);
}

Status Selector::keep_common(
    Context& context, const Window& window, Candidates& candidates, std::span<const Offers> offers) {
    const auto place = [&](const auto& candidate) {
        const std::uint64_t number = number_of(candidate.name);
        const bool common =
            std::all_of(offers.begin(), offers.end(), [&](const Offers& one) { return has(one, number); });
        return common ? std::find(offers[0].begin(), offers[0].end(), number) - offers[0].begin() : most_offers;
    };
    const std::string object = window.describe();
    std::stable_sort(
        candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
    std::vector<std::string> refused;
    while (!candidates.empty() && place(candidates.back()) == most_offers) {
        refused.push_back(candidates.back().name);
        context.core().decisions.record("osc", object, candidates.back().name, Outcome::declined,
            candidates.back().priority, "another member of the window cannot use it");
        candidates.pop_back();
    }
    if (candidates.empty()) {
        return Error{Errc::not_available,
            "framework osc: the members of " + object + " have no component in common; this process can use " +
                join(refused, ", ") + ". Select one that all of them can use (osc or patchbay_osc)"};
    }
    return {};
}

} // namespace patchbay::osc
