// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/component/component.h"
#include "core/component/plugin.h"
#include "core/component/selection_list.h"
#include "core/explain.h"
#include "core/lifetime/lease.h"
#include "core/param/spec.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// What all frameworks have in common: opening, closing and listing components without knowing their interface.
// Use Framework<ComponentT>, which adds the type.
class FrameworkBase {
public:
    // `params` is the framework's own table (names <framework>_<name>); it must outlive the framework.
    FrameworkBase(
        const char* name, std::uint32_t version, const ParamSpec* params = nullptr, std::size_t param_count = 0);
    ~FrameworkBase();
    FrameworkBase(const FrameworkBase&) = delete;
    FrameworkBase& operator=(const FrameworkBase&) = delete;

    const std::string& name() const noexcept { return _name; }
    std::uint32_t version() const noexcept { return _version; }

    // Makes the framework's parameters known without opening anything. To be called for every framework when the
    // library starts, so that a parameter of one that is not used is not taken for a misspelt one.
    Status announce(Core& core);

    // The user's list for the job. Errors: it is malformed, or names what is not among the installed components.
    Result<SelectionList> job_list(const Core& core, const std::vector<std::string>& installed) const;

    // The first lease opens the components that the user's list admits and that have what is `needed`; the last one
    // closes them. A later lease that needs more hides the components that lack it from later selections.
    // Errors: the list is malformed or names what is not installed or does not fit; a parameter is ill-typed.
    // No component at all is no error here, but in selection.
    Result<Lease> open(Core& core, Capability needed = Capability::none);

    // The error that a selection for `object` with this list ends in before it queries any component: the list is
    // malformed, or names what is not installed or does not fit. For a caller whose construction has failed already,
    // and that looks for a cause of its own.
    Status check_list(std::string_view object, std::string_view only);

    // The error of a query that succeeds without a module.
    static Error no_module() { return {Errc::invalid, "its query has returned no module"}; }

protected:
    struct Opened {
        Plugin plugin; // declared first: unmapped last
        std::unique_ptr<Component> component;
        std::string name;
        bool admitted; // by the job's list; the others were opened for an object's own list, or to wrap
    };

    // The opened components that one selection queries, in order: `only` (from an object's info key, may be empty)
    // overrides the job's list and may open components that this one left out.
    Result<std::vector<const Opened*>> candidates(std::string_view object, std::string_view only);
    const Opened* find_opened(std::string_view component) const;
    std::vector<const Opened*> all_opened() const;

    // The result of one candidate's query, for the log and for the error when there is no winner.
    struct Refusal {
        std::string component;
        std::string reason;
        Outcome outcome;
        bool opened = false; // its open() has been called; it is not called again before the framework closes
        Errc code = Errc::not_available;
    };
    void note_refusal(
        std::string_view object, const Opened& candidate, const Error& error, std::vector<Refusal>& refusals) const;
    // Another candidate has been selected: warns of those that failed. Without one, the error of the selection names
    // them.
    void warn_of_failures(std::string_view object, const std::vector<Refusal>& refusals) const;
    void note_choice(
        std::string_view object, std::string_view candidate, bool won, int priority, std::string_view reason) const;
    // A candidate has no memory for its offer: the error of the selection.
    Error no_memory(std::string_view object, const Opened& candidate, const Error& error) const;
    // The exception that is being handled, which has left this function of a component, as an error.
    static Error thrown(const char* function);
    Error none_selected(std::string_view object, const std::vector<Refusal>& refusals) const;

    // The components that parameter <framework>_wrap names, in its order; opens those that are not open. Errors:
    // Errc::not_available where a component lacks what a lease needs, so that the caller may do with less; otherwise a
    // name is not installed, or the component cannot be used.
    Result<std::vector<const Opened*>> wrappers();
    // Records that a component wraps what was chosen; `error`: why it does not. Returns the error if the user must see
    // it resolved.
    Status note_wrapper(std::string_view object, const Opened& wrapper, std::string_view wrapped, const Status& result);

private:
    Status open_all(Core& core, Capability needed, CleanupStack& cleanup);
    Status open_one(const std::string& component, bool asked_for, bool admitted);
    // Of a component that does not fit: an error if the user has asked for it, otherwise it is left out.
    Status refuse_incompatible(const std::string& component, bool asked_for, const Error& error);
    void refuse(const std::string& component, Outcome outcome, const std::string& reason, bool opened);
    // Why a component whose open() has been called is left out; nullptr: it is not, or it was not called.
    const Refusal* refusal_locked(std::string_view component) const;
    const Opened* find_locked(std::string_view component) const;
    static Capability missing(const Opened& opened, Capability needed);
    void close_all() noexcept;

    std::string _name;
    std::uint32_t _version;
    const ParamSpec* _params;
    std::size_t _param_count;
    Subsystem _users;
    mutable std::mutex _mutex; // guards what follows; never held while a component's query runs
    Core* _core = nullptr;     // while open
    Capability _needed = Capability::none;
    std::vector<std::unique_ptr<Opened>> _opened;
    std::vector<Refusal> _refused;
};

} // namespace patchbay
