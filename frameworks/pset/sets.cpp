// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/pset/sets.h"

#include "core/runtime/job_table.h"
#include "core/runtime/runtime.h"
#include "frameworks/context.h"

#include <algorithm>
#include <cctype>

namespace patchbay::pset {

namespace {

Set set_of_node(const Sets::Job& job) {
    std::vector<ProcessId> members;
    for (const std::uint32_t rank : job.local_peers) {
        members.push_back({job.self.job, rank});
    }
    return Set::of(shared_name, 1, std::move(members));
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(
        a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// What is wrong with a set that a component has returned for this name; empty: nothing. `size_of(job)`: how many
// processes a job has.
template <class SizeOf>
std::string problem_of(const Set& set, std::string_view name, const SizeOf& size_of) {
    if (set.name != name) {
        return "it has returned the process set '" + set.name + "' for '" + std::string(name) + "'";
    }
    for (const Run& run : set.runs) {
        const std::uint32_t size = size_of(run.first.job);
        if (run.first.rank >= size || run.count > size - run.first.rank) {
            return "the process set '" + set.name + "' has a member of rank " + std::to_string(run.first.rank) +
                " or above that its job does not have";
        }
    }
    return {};
}

} // namespace

std::string_view spelt_properly(std::string_view name) {
    for (const std::string_view own : {world_name, self_name, shared_name}) {
        if (equal_but_for_case(name, own)) {
            return own;
        }
    }
    return name;
}

Sets::Sets(Framework<Component>& framework, Core& core, Context& context, const Job& job)
    : _framework(framework),
      _core(core),
      _context(context),
      _self(job.self),
      _size(job.size) {
    for (Set own :
        {Set::run(world_name, {job.self.job, 0}, job.size), Set::run(self_name, job.self, 1), set_of_node(job)}) {
        _listed.push_back(own.name);
        remember(std::make_shared<const Set>(std::move(own)), nullptr);
    }
}

Sets::~Sets() = default;

// On first need: a program that uses only the framework's own sets loads no component.
Status Sets::open_sources() {
    if (_opened) {
        return {};
    }
    auto lease = _framework.open(_core);
    if (!lease) {
        return lease.error();
    }
    auto offers = _framework.select_all("job", [this](Component& component) -> Result<Choice<Module>> {
        auto candidate = component.query(_context);
        if (!candidate) {
            return candidate.error();
        }
        return Choice<Module>{candidate->priority, std::move(candidate->module)};
    });
    if (!offers && offers.error().code != Errc::not_available) {
        return offers.error();
    }
    if (!offers) {
        _no_source = offers.error().text;
    } else {
        _framework.note_winner("job", *offers, offers->size());
        const std::lock_guard lock(_mutex);
        _sources = std::move(*offers);
    }
    _lease = std::move(*lease);
    _opened = true;
    return {};
}

Sets::SetPtr Sets::known(std::string_view name) const {
    const std::lock_guard lock(_mutex);
    auto found = _known.find(name);
    if (found == _known.end()) {
        return nullptr;
    }
    const auto& [set, source] = found->second;
    return source == nullptr || source->is_current(*set) ? set : nullptr;
}

void Sets::remember(const SetPtr& set, const Module* source) {
    const std::lock_guard lock(_mutex);
    _known.insert_or_assign(set->name, Known{set, source});
}

Result<Sets::SetPtr> Sets::find(std::string_view name) {
    if (SetPtr set = known(name)) {
        return set;
    }
    if (SetPtr own = known(spelt_properly(name)); own != nullptr && own->name != name) {
        return own;
    }
    const std::lock_guard lock(_asking);
    if (SetPtr set = known(name)) {
        return set; // another thread has queried it meanwhile
    }
    if (Status opened = open_sources(); !opened) {
        return opened.error();
    }
    return ask(std::string(name));
}

// With _asking held, as everything that uses the sources. They change only with both mutexes held.
Result<Sets::SetPtr> Sets::ask(const std::string& name) {
    Error failure{
        Errc::not_found, "there is no process set '" + name + "'" + (_no_source.empty() ? "" : "; " + _no_source)};
    for (const Offer& source : _sources) {
        Result<Set> found = source.module->find(name);
        if (found) {
            const auto size_of = [this](JobNumber number) {
                const auto job = number == _self.job ? nullptr : _context.runtime().jobs().job(number);
                return job != nullptr ? job->size : number == _self.job ? _size : 0;
            };
            if (const std::string problem = problem_of(*found, name, size_of); !problem.empty()) {
                return Error{Errc::invalid, "component " + source.name + " of framework pset: " + problem};
            }
            auto set = std::make_shared<const Set>(std::move(*found));
            remember(set, source.module.get());
            return SetPtr(set);
        }
        if (found.error().code != Errc::not_found && failure.code == Errc::not_found) {
            failure = found.error();
        }
    }
    return failure;
}

Result<std::size_t> Sets::count() {
    const std::lock_guard asking(_asking);
    if (Status opened = open_sources(); !opened) {
        return opened.error();
    }
    for (const Offer& source : _sources) {
        auto names = source.module->names();
        if (!names) {
            return names.error();
        }
        for (const std::string& name : *names) {
            SetPtr set = known(name);
            if (set == nullptr) {
                Result<SetPtr> asked = ask(name);
                // One that has gone again, or that we cannot name, is not ours to list.
                if (!asked && asked.error().code != Errc::not_found && asked.error().code != Errc::unsupported) {
                    return asked.error();
                }
                set = asked ? *asked : nullptr;
            }
            const std::lock_guard lock(_mutex);
            if (set != nullptr && set->contains(_self) && std::ranges::find(_listed, name) == _listed.end()) {
                _listed.push_back(name);
            }
        }
    }
    const std::lock_guard lock(_mutex);
    return _listed.size();
}

Result<std::string> Sets::name(std::size_t number) const {
    const std::lock_guard lock(_mutex);
    if (number >= _listed.size()) {
        return Error{Errc::invalid, "there are " + std::to_string(_listed.size()) + " process sets, numbered from 0"};
    }
    return _listed[number];
}

std::uint64_t Sets::requests() const {
    const std::lock_guard lock(_mutex);
    std::uint64_t requests = 0;
    for (const Offer& source : _sources) {
        requests += source.module->requests();
    }
    return requests;
}

} // namespace patchbay::pset
