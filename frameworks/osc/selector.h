// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/framework.h"
#include "frameworks/context.h"
#include "frameworks/osc/osc.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {
namespace osc {

// A module that stands before the module of every window, whatever component serves it.
class Outermost {
public:
    // Called for a new window by the thread that constructs it, before another thread can use it. Must not communicate.
    // May throw std::bad_alloc; then `module` is as it was.
    virtual void wrap(const Window& window, std::unique_ptr<Module>& module) = 0;

protected:
    ~Outermost() = default;
};

// Selects the component of a window, the same in all of its members: each member queries its components, the members
// exchange what these answer, and of the components that none of them refuses the one with the highest priority wins,
// unless it finds when it makes the module that it cannot serve the window: then the next one is asked.
class Selector {
public:
    // What a member sends to the others: a number for the name of each component that can serve the window, best first;
    // 0 ends the list.
    static constexpr std::size_t most_offers = 8;
    using Offers = std::array<std::uint64_t, most_offers>;

    struct None {};
    using Candidates = std::vector<Framework<Component>::Selected<None>>;

    explicit Selector(Framework<Component>& framework) noexcept
        : _framework(framework) {}

    // The components that can serve the window in this process, best first. `only` is a selection list that overrides
    // the job's ("" for none). Local. Errc::not_available: there is none, with the reason of each.
    Result<Candidates> query(Context& context, const Window& window, const std::string& only);
    static Offers offers_of(const Candidates& candidates) noexcept;

    // Keeps the candidates that no member refuses, in an order that is the same in all members. `offers` are those of
    // all members, by rank. Local. Errc::not_available: they have none in common.
    Status keep_common(Context& context, const Window& window, Candidates& candidates, std::span<const Offers> offers);
    // Ends a selection: the first candidate serves the window.
    void note_winner(const Window& window, const Candidates& candidates) const;

    // Null: nothing stands before the modules. Never before those of windows whose ranks are threads. It must exist
    // until the last window has been destroyed.
    void set_outermost(Outermost* outermost) noexcept { _outermost = outermost; }
    void wrap(const Window& window, std::unique_ptr<Module>& module) const {
        if (_outermost != nullptr && window.comm->view == nullptr) {
            _outermost->wrap(window, module);
        }
    }

private:
    Framework<Component>& _framework;
    Outermost* _outermost = nullptr;
};

} // namespace osc
} // namespace patchbay
