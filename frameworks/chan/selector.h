// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/framework.h"
#include "frameworks/chan/chan.h"
#include "frameworks/context.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {
namespace chan {

// Selects the component of a channel, the same on both sides: the sending side tells the receiving one which components
// can serve the channel there and with which priorities; of those that both have, the receiving side takes the one with
// the highest sum (of equal ones the one that comes first in its own order), and tells the sending side.
class Selector {
public:
    // What one side offers, as it is sent to the other one. The unused ones at the end have no name.
    static constexpr std::size_t most_candidates = 6;
    static constexpr std::size_t name_size = 20; // with the '\0'
    struct Candidate {
        char name[name_size];
        std::int32_t priority;
    };
    using Candidates = std::array<Candidate, most_candidates>;

    struct None {};

    explicit Selector(Framework<Component>& framework) noexcept
        : _framework(framework) {}

    // The components that can serve the channel in this process, best first, and their number. `only` is a selection
    // list that overrides the job's ("" for none). Local. Errc::not_available: there is none, with the reason of each;
    // Errc::out_of_memory: nor can one be used for which memory is short. Throws std::bad_alloc.
    Result<std::size_t> query(Context& context, const Binding& binding, const std::string& only, Candidates* result);
    // On the receiving side. Records the choice for --explain. Errc::not_available: the sides have none in common.
    // Throws std::bad_alloc.
    Result<Candidate> choose(Context& context, const Binding& binding, const Candidates& here, const Candidates& there);
    // What choose() takes; nothing: they have none in common.
    static std::optional<Candidate> best_of(const Candidates& receiver, const Candidates& sender) noexcept;
    // An opened component by its name; null: this process has none.
    Component* find(const Candidate& candidate) const { return _framework.find(candidate.name); }

private:
    Framework<Component>& _framework;
};

} // namespace chan
} // namespace patchbay
