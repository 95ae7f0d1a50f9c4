// SPDX-License-Identifier: BSD-3-Clause
#include "core/component/framework_base.h"

#include "core/base/strings.h"
#include "core/component/repository.h"
#include "core/core.h"
#include "core/log.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace patchbay {

namespace {

constexpr const char* for_job = "job";

// `object` of a decision as a sentence names it.
std::string in_words(std::string_view object) {
    return object == for_job ? "the job" : std::string(object);
}

// Of a component without memory, or with a wrong parameter. Once: it may itself have selected a component of another
// framework, whose error has one.
std::string remedy(const std::string& framework, const std::string& component, const Error& error) {
    constexpr const char* text = " leaves it out, in all processes)";
    return error.text.find(text) != std::string::npos ? "" : " (parameter " + framework + "=^" + component + text;
}

} // namespace

FrameworkBase::FrameworkBase(const char* name, std::uint32_t version, const ParamSpec* params, std::size_t param_count)
    : _name(name),
      _version(version),
      _params(params),
      _param_count(param_count),
      _users(name) {}

FrameworkBase::~FrameworkBase() = default;

Status FrameworkBase::announce(Core& core) {
    if (Status defined = Repository::define_selection_param(_name, core.params); !defined) {
        return defined;
    }
    return core.params.define(_name, "", _params, _param_count);
}

Result<SelectionList> FrameworkBase::job_list(const Core& core, const std::vector<std::string>& installed) const {
    const Param& selection = core.params.at(_name);
    auto list = SelectionList::parse(selection.text());
    if (!list) {
        return Error{
            list.error().code, "parameter " + _name + ": " + list.error().text + " [" + selection.origin() + "]"};
    }
    if (Status known = list->check_names(_name, installed); !known) {
        return Error{known.error().code, known.error().text + " [" + selection.origin() + "]"};
    }
    return list;
}

Result<Lease> FrameworkBase::open(Core& core, Capability needed) {
    auto lease = _users.acquire([&](CleanupStack& cleanup) { return open_all(core, needed, cleanup); }, &core.faults);
    if (lease) {
        const std::lock_guard lock(_mutex);
        _needed = _needed | needed;
    }
    return lease;
}

Status FrameworkBase::open_all(Core& core, Capability needed, CleanupStack& cleanup) {
    if (Status known = announce(core); !known) {
        return known;
    }
    const std::vector<std::string> installed = core.components.components(_name);
    auto list = job_list(core, installed);
    if (!list) {
        return list.error();
    }
    const Param& selection = core.params.at(_name);
    const std::lock_guard lock(_mutex);
    _core = &core;
    _needed = needed;
    cleanup.push([this] { close_all(); });
    core.params.freeze(_name);
    for (const std::string& component : installed) {
        if (!list->admits(component)) {
            const std::string reason =
                "left out by " + _name + "=" + selection.text() + " [" + selection.origin() + "]";
            core.decisions.record(_name, for_job, component, Outcome::excluded, 0, reason);
            _refused.push_back({component, reason, Outcome::excluded});
        }
    }
    const bool asked_for = !list->excludes() && !list->empty();
    for (const std::string& component : asked_for ? list->names() : installed) {
        if (!list->admits(component)) {
            continue;
        }
        if (Status opened = cleanup.step(
                "open a component", [&] { return open_one(component, asked_for, true); }, nullptr);
            !opened) {
            return opened;
        }
    }
    return {};
}

Status FrameworkBase::refuse_incompatible(const std::string& component, bool asked_for, const Error& error) {
    // Without memory or descriptors: another process may have the component, and this one, later.
    if (asked_for || error.code == Errc::out_of_memory) {
        return error;
    }
    log_warn_job(error.text + "; going on without it");
    refuse(component, Outcome::incompatible, error.text, false);
    return {};
}

// An error is one that the user must see resolved: it fails the opening of the framework. A component that merely
// cannot take part is recorded and left out.
Status FrameworkBase::open_one(const std::string& component, bool asked_for, bool admitted) {
    auto plugin = _core->components.load(_name, component, _version);
    if (!plugin) {
        return refuse_incompatible(component, asked_for, plugin.error());
    }
    const ComponentDescriptor& descriptor = plugin->descriptor();
    if (Status defined = _core->params.define(_name, component, descriptor.params, descriptor.param_count); !defined) {
        const Status table = plugin->check_params();
        return table ? defined : refuse_incompatible(component, asked_for, table.error());
    }
    std::unique_ptr<Component> object(descriptor.create());
    if (object == nullptr) {
        return Error{Errc::out_of_memory, "no memory for component " + component + " of framework " + _name};
    }
    auto opened = std::make_unique<Opened>(Opened{std::move(*plugin), std::move(object), component, admitted});
    const auto start = [&]() -> Status {
        try {
            return opened->component->open(*_core);
        } catch (...) {
            return thrown("open");
        }
    };
    if (Status started = start(); !started) {
        const Errc why = started.error().code;
        const std::string text =
            "component " + component + " of framework " + _name + " cannot be used: " + started.error().text;
        // Without memory, another process may have the component. A parameter has a wrong value, which must be
        // corrected.
        if (why == Errc::out_of_memory || why == Errc::invalid) {
            return Error{why, text + remedy(_name, component, started.error())};
        }
        if (why != Errc::not_available || asked_for) {
            log_warn(text + "; going on without it");
        }
        refuse(component, Outcome::declined, started.error().text, true);
        return {};
    }
    if (!has_all(opened->component->capabilities(), _needed)) {
        const std::string reason = "lacks " + describe_capabilities(missing(*opened, _needed));
        opened->component->close();
        if (asked_for) {
            log_warn_job("component " + component + " of framework " + _name + " cannot be used: it " + reason +
                "; going on without it");
        }
        refuse(component, Outcome::excluded, reason, true);
        return {};
    }
    log_verbose(2, "opened component " + component + " of framework " + _name + " from " + opened->plugin.file());
    _opened.push_back(std::move(opened));
    return {};
}

Capability FrameworkBase::missing(const Opened& opened, Capability needed) {
    return Capability(std::uint32_t(needed) & ~std::uint32_t(opened.component->capabilities()));
}

Error FrameworkBase::no_memory(std::string_view object, const Opened& candidate, const Error& error) const {
    _core->decisions.record(_name, object, candidate.name, Outcome::declined, 0, error.text);
    return {Errc::out_of_memory,
        "component " + candidate.name + " of framework " + _name + " failed for " + in_words(object) + ": " +
            error.text + remedy(_name, candidate.name, error)};
}

Error FrameworkBase::thrown(const char* function) {
    const std::string text = std::string("its ") + function + "() has thrown an exception";
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return {Errc::out_of_memory, text + ": memory is exhausted"};
    } catch (const std::exception& exception) {
        return {Errc::system, text + ": " + exception.what()};
    } catch (...) {
        return {Errc::system, text};
    }
}

void FrameworkBase::refuse(const std::string& component, Outcome outcome, const std::string& reason, bool opened) {
    _core->decisions.record(_name, for_job, component, outcome, 0, reason);
    _refused.push_back({component, reason, outcome, opened});
}

void FrameworkBase::close_all() noexcept {
    while (!_opened.empty()) {
        _opened.back()->component->close();
        _opened.pop_back();
    }
    _refused.clear();
    _core->params.thaw(_name);
    _core = nullptr;
    _needed = Capability::none;
}

Status FrameworkBase::check_list(std::string_view object, std::string_view only) {
    const auto listed = candidates(object, only);
    return listed ? Status{} : Status{listed.error()};
}

Result<std::vector<const FrameworkBase::Opened*>> FrameworkBase::candidates(
    std::string_view object, std::string_view only) {
    const std::lock_guard lock(_mutex);
    if (_core == nullptr) {
        return Error{Errc::invalid, "framework " + _name + " is asked for a component before it is open"};
    }
    auto list = SelectionList::parse(only);
    if (!list) {
        return Error{
            list.error().code, "selection of " + _name + " for " + in_words(object) + ": " + list.error().text};
    }
    if (Status known = list->check_names(_name, _core->components.components(_name)); !known) {
        return known.error();
    }
    std::vector<const Opened*> result;
    const auto take = [&](const Opened& opened) {
        const Capability lacking = missing(opened, _needed);
        if (lacking == Capability::none) {
            result.push_back(&opened);
        } else {
            _core->decisions.record(
                _name, object, opened.name, Outcome::excluded, 0, "lacks " + describe_capabilities(lacking));
        }
    };
    if (list->empty() || list->excludes()) {
        for (const auto& opened : _opened) {
            if (opened->admitted && list->admits(opened->name)) {
                take(*opened);
            }
        }
        return result;
    }
    for (const std::string& name : list->names()) {
        if (find_locked(name) == nullptr && refusal_locked(name) == nullptr) {
            if (Status opened = open_one(name, true, false); !opened) {
                return opened.error();
            }
        }
        if (const Opened* opened = find_locked(name)) {
            take(*opened);
        } else if (const Refusal* refusal = refusal_locked(name)) {
            _core->decisions.record(_name, object, name, refusal->outcome, 0, refusal->reason);
        }
    }
    return result;
}

const FrameworkBase::Opened* FrameworkBase::find_locked(std::string_view component) const {
    for (const auto& opened : _opened) {
        if (opened->name == component) {
            return opened.get();
        }
    }
    return nullptr;
}

const FrameworkBase::Refusal* FrameworkBase::refusal_locked(std::string_view component) const {
    for (const Refusal& refusal : _refused) {
        if (refusal.opened && refusal.component == component) {
            return &refusal;
        }
    }
    return nullptr;
}

const FrameworkBase::Opened* FrameworkBase::find_opened(std::string_view component) const {
    const std::lock_guard lock(_mutex);
    return find_locked(component);
}

std::vector<const FrameworkBase::Opened*> FrameworkBase::all_opened() const {
    const std::lock_guard lock(_mutex);
    std::vector<const Opened*> result;
    for (const auto& opened : _opened) {
        if (missing(*opened, _needed) == Capability::none) {
            result.push_back(opened.get());
        }
    }
    return result;
}

void FrameworkBase::note_refusal(
    std::string_view object, const Opened& candidate, const Error& error, std::vector<Refusal>& refusals) const {
    _core->decisions.record(_name, object, candidate.name, Outcome::declined, 0, error.text);
    refusals.push_back(
        {.component = candidate.name, .reason = error.text, .outcome = Outcome::declined, .code = error.code});
}

void FrameworkBase::warn_of_failures(std::string_view object, const std::vector<Refusal>& refusals) const {
    for (const Refusal& one : refusals) {
        if (one.code != Errc::not_available && one.code != Errc::unsupported) {
            // What is wrong with a parameter is so in every process.
            const auto warn = one.code == Errc::invalid ? log_warn_job : log_warn;
            warn("component " + one.component + " of framework " + _name + " failed for " + in_words(object) + ": " +
                one.reason);
        }
    }
}

void FrameworkBase::note_choice(
    std::string_view object, std::string_view candidate, bool won, int priority, std::string_view reason) const {
    _core->decisions.record(_name, object, candidate, won ? Outcome::chosen : Outcome::lost, priority, reason);
    if (won) {
        _core->note_selected(_name, candidate, priority);
    }
    if (won && log_enabled(1)) {
        log_verbose(
            1, _name + " for " + in_words(object) + ": " + std::string(candidate) + " (" + std::string(reason) + ")");
    }
}

Result<std::vector<const FrameworkBase::Opened*>> FrameworkBase::wrappers() {
    const std::lock_guard lock(_mutex);
    const std::string parameter = _name + "_wrap";
    const Param* names = _core == nullptr ? nullptr : _core->params.find(parameter);
    std::vector<const Opened*> result;
    if (names == nullptr) {
        return result;
    }
    const auto wrong = [&](Errc code, const std::string& text) {
        return Error{code, "parameter " + parameter + ": " + text + " [" + names->origin() + "]"};
    };
    const std::vector<std::string> installed = _core->components.components(_name);
    for (const std::string& name : names->as_list()) {
        if (std::find(installed.begin(), installed.end(), name) == installed.end()) {
            return wrong(Errc::invalid, SelectionList::no_such_component(_name, name, installed).text);
        }
        if (find_locked(name) == nullptr && refusal_locked(name) == nullptr) {
            if (Status opened = open_one(name, true, false); !opened) {
                return opened.error();
            }
        }
        const Opened* opened = find_locked(name);
        if (opened == nullptr) {
            const Refusal& refusal = *refusal_locked(name); // open_one has recorded it
            return wrong(refusal.outcome == Outcome::excluded ? Errc::not_available : Errc::invalid,
                "component '" + name + "' cannot be used: " + refusal.reason);
        }
        if (const Capability lacking = missing(*opened, _needed); lacking != Capability::none) {
            return wrong(Errc::not_available,
                "component '" + name + "' cannot be used: lacks " + describe_capabilities(lacking));
        }
        result.push_back(opened);
    }
    return result;
}

Status FrameworkBase::note_wrapper(
    std::string_view object, const Opened& wrapper, std::string_view wrapped, const Status& result) {
    if (result) {
        _core->decisions.record(
            _name, object, wrapper.name, Outcome::wraps, 0, "stands before " + std::string(wrapped));
        return {};
    }
    const std::string reason = "does not wrap " + std::string(wrapped) + ": " + result.error().text;
    _core->decisions.record(_name, object, wrapper.name, Outcome::declined, 0, reason);
    if (result.error().code == Errc::not_available) {
        return {};
    }
    return Error{result.error().code,
        "component " + wrapper.name + " of framework " + _name + ", which parameter " + _name + "_wrap names, " +
            reason};
}

Error FrameworkBase::none_selected(std::string_view object, const std::vector<Refusal>& refusals) const {
    const std::lock_guard lock(_mutex);
    std::string text = "no component of framework " + _name + " can be used for " + in_words(object);
    const char* separator = ": ";
    for (const auto* list : {&refusals, &_refused}) {
        for (const Refusal& refusal : *list) {
            text += separator + refusal.component + " (" + refusal.reason + ")";
            separator = ", ";
        }
    }
    if (_opened.empty() && _refused.empty()) {
        text += ": none is installed";
    }
    return {Errc::not_available, std::move(text)};
}

} // namespace patchbay
