// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/chan/selector.h"

#include "core/base/strings.h"
#include "core/core.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace patchbay::chan {

namespace {

// In the words of a user.
std::string describe(const Binding& binding) {
    const Side& side = binding.side;
    return std::string("a channel ") + (side.sends ? "to" : "from") + " rank " + std::to_string(binding.peer) + " of " +
        binding.comm->describe();
}

std::string names_of(const Selector::Candidates& candidates) {
    std::vector<std::string> names;
    for (const Selector::Candidate& one : candidates) {
        if (one.name[0] != '\0') {
            names.emplace_back(one.name);
        }
    }
    return names.empty() ? "none" : join(names, ", ");
}

const Selector::Candidate* find(const Selector::Candidates& in, const char* name) noexcept {
    const auto* found = std::find_if(in.begin(), in.end(),
        [name](const Selector::Candidate& one) { return std::strncmp(one.name, name, Selector::name_size) == 0; });
    return found != in.end() ? found : nullptr;
}

} // namespace

Result<std::size_t> Selector::query(
    Context& context, const Binding& binding, const std::string& only, Candidates* result) {
    *result = {};
    auto offers = _framework.select_all(
        describe(binding),
        [&](Component& component) -> Result<patchbay::Choice<None>> {
            if (binding.comm->view != nullptr && !has_all(component.capabilities(), Capability::peers_threads)) {
                return Error{Errc::not_available, "it serves processes, and the ranks of this channel are threads"};
            }
            auto priority = component.query(context, binding);
            if (!priority) {
                return priority.error();
            }
            return patchbay::Choice<None>{*priority, std::make_unique<None>()};
        },
        only);
    if (!offers) {
        return offers.error();
    }
    std::size_t count = 0;
    for (const auto& offer : *offers) {
        if (count == most_candidates || offer.name.size() >= name_size) {
            context.core().decisions.record("chan", describe(binding), offer.name, Outcome::declined, offer.priority,
                count == most_candidates ? "there are as many candidates as the two sides tell each other"
                                         : "its name is longer than what the two sides tell each other");
            continue;
        }
        Candidate& one = (*result)[count++];
        offer.name.copy(one.name, name_size - 1);
        one.priority = offer.priority;
    }
    if (count == 0) {
        return Error{Errc::not_available,
            "framework chan: the name of each component that can serve the channel is longer than " +
                std::to_string(name_size - 1) + " characters"};
    }
    return count;
}

std::optional<Selector::Candidate> Selector::best_of(const Candidates& receiver, const Candidates& sender) noexcept {
    std::optional<Candidate> best;
    for (const Candidate& one : receiver) {
        const Candidate* other = one.name[0] != '\0' ? chan::find(sender, one.name) : nullptr;
        if (other != nullptr && (!best || one.priority + other->priority > best->priority)) {
            best = one;
            best->priority += other->priority;
        }
    }
    return best;
}

Result<Selector::Candidate> Selector::choose(
    Context& context, const Binding& binding, const Candidates& here, const Candidates& there) {
    const auto best = best_of(here, there);
    if (!best) {
        return Error{Errc::not_available,
            "framework chan: the two sides of the channel have no component in common; the receiver can use " +
                names_of(here) + ", the sender " + names_of(there) +
                ". Select one that both can use (chan or patchbay_chan)"};
    }
    context.core().decisions.record("chan", describe(binding), best->name, Outcome::chosen, best->priority,
        "highest sum of the priorities of both sides");
    return *best;
}

} // namespace patchbay::chan
