// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/framework_base.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// What a component's query returns: the module that it offers, and the priority of that; the highest priority wins.
template <class Module>
struct Choice {
    int priority;
    std::unique_ptr<Module> module;
};

template <class Answer>
struct ModuleOfAnswer;
template <class Module>
struct ModuleOfAnswer<Result<Choice<Module>>> {
    using type = Module;
};

// A framework whose components implement ComponentT (derived, not virtually, from Component). Its modules must be gone
// before the last lease is.
template <class ComponentT>
class Framework : public FrameworkBase {
public:
    using FrameworkBase::FrameworkBase;

    // What a query that is called with a component offers.
    template <class Query>
    using ModuleOf = typename ModuleOfAnswer<std::invoke_result_t<Query&, ComponentT&>>::type;

    template <class Module>
    struct Selected {
        ComponentT* component;
        std::string name;
        int priority;
        std::unique_ptr<Module> module;
    };

    // Queries every candidate and returns all that offer a module, best first (equals by order of the user's list, then
    // by name). `query(ComponentT&)` returns Result<Choice<Module>>; Errc::not_available means that the component
    // offers none here, and Errc::out_of_memory fails the selection: other processes may have the component, and could
    // not communicate with one that has taken another one instead. `object` says what is chosen for, in the words of a
    // user: "job", or the name of a communicator. `only` is a selection list that overrides the job's.
    // Errc::not_available when no component offers one, with the reason of each.
    template <class Query>
    auto select_all(std::string_view object, Query&& query, std::string_view only = {})
        -> Result<std::vector<Selected<ModuleOf<Query>>>> {
        auto order = candidates(object, only);
        if (!order) {
            return order.error();
        }
        std::vector<Selected<ModuleOf<Query>>> offers;
        std::vector<Refusal> refusals;
        for (const Opened* candidate : *order) {
            ComponentT& component = as_type(*candidate);
            auto choice = guarded("query", [&] { return query(component); });
            if (!choice && choice.error().code == Errc::out_of_memory) {
                return no_memory(object, *candidate, choice.error());
            }
            if (!choice) {
                note_refusal(object, *candidate, choice.error(), refusals);
                continue;
            }
            if (choice->module == nullptr) {
                note_refusal(object, *candidate, no_module(), refusals);
                continue;
            }
            offers.push_back({&component, candidate->name, choice->priority, std::move(choice->module)});
        }
        if (offers.empty()) {
            return none_selected(object, refusals);
        }
        warn_of_failures(object, refusals);
        std::stable_sort(
            offers.begin(), offers.end(), [](const auto& a, const auto& b) { return a.priority > b.priority; });
        return offers;
    }

    // The best offer. The losers' modules are destroyed before this returns.
    template <class Query>
    auto select_one(std::string_view object, Query&& query, std::string_view only = {})
        -> Result<Selected<ModuleOf<Query>>> {
        auto offers = select_all(object, std::forward<Query>(query), only);
        if (!offers) {
            return offers.error();
        }
        note_winner(object, *offers);
        return std::move(offers->front());
    }

    // Records in the decision log which offers a selection took: the first `taken` of them. select_one does it itself;
    // a framework that combines several offers calls this after select_all.
    template <class Module>
    void note_winner(
        std::string_view object, const std::vector<Selected<Module>>& offers, std::size_t taken = 1) const {
        for (std::size_t i = 0; i < offers.size(); ++i) {
            const bool won = i < taken;
            note_choice(object, offers[i].name, won, offers[i].priority,
                i == 0 ? "highest priority" : (won ? "combined with " : "lower priority than ") + offers[0].name);
        }
    }

    // Passes a selected module to the components that parameter <framework>_wrap names, in its order: the first one
    // stands directly before the module. `wrap(ComponentT&, std::unique_ptr<Module>&)` returns a Status: on success the
    // component has put its own module, which owns the former, in the place of it; otherwise it has changed nothing.
    // After Errc::not_available, the component does not wrap this module, and the next one is asked; any other error is
    // one that the user must see resolved. `name` is the selected component. Returns the capabilities that all wrappers
    // have.
    template <class Module, class Wrap>
    Result<Capability> wrap(
        std::string_view object, const std::string& name, std::unique_ptr<Module>& module, Wrap&& wrap) {
        auto components = wrappers();
        if (!components) {
            return components.error();
        }
        auto common = Capability(~std::uint32_t(0));
        std::string wrapped = name;
        for (const Opened* opened : *components) {
            const Module* const former = module.get();
            Status done = guarded("wrap", [&] { return wrap(as_type(*opened), module); });
            if (module == nullptr && (done || done.error().code == Errc::not_available)) {
                done = Error{Errc::invalid, "it has left no module"};
            } else if (done && module.get() == former) {
                done = Error{Errc::invalid, "it has put no module before the former one"};
            }
            if (Status noted = note_wrapper(object, *opened, wrapped, done); !noted) {
                return noted.error();
            }
            if (done) {
                wrapped = opened->name + "(" + wrapped + ")";
                common = common & opened->component->capabilities();
            }
        }
        return common;
    }

    // An opened component by name, or null.
    ComponentT* find(std::string_view component) const {
        const Opened* opened = find_opened(component);
        return opened == nullptr ? nullptr : &as_type(*opened);
    }

    // All opened components, in the order in which selection asks them.
    std::vector<ComponentT*> components() const {
        std::vector<ComponentT*> result;
        for (const Opened* opened : all_opened()) {
            result.push_back(&as_type(*opened));
        }
        return result;
    }

private:
    // No exception may leave a component. One that does all the same becomes the error of the call, so that the text
    // names the component. An override that is noexcept ends the process before.
    template <class Call>
    static std::invoke_result_t<Call&> guarded(const char* function, Call&& call) {
        try {
            return call();
        } catch (...) {
            return thrown(function);
        }
    }
    static ComponentT& as_type(const Opened& opened) { return static_cast<ComponentT&>(*opened.component); }
};

} // namespace patchbay
