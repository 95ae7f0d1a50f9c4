// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/selector.h"

#include "core/base/strings.h"
#include "object/topology.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace patchbay::coll {

namespace {

// What some component must provide. On intercommunicators there is no order of all processes (MPI-5.0, 6.2.2), and
// without a topology there are no neighbours.
FunctionSet required(const Communicator& comm) noexcept {
    if (comm.is_inter) {
        return FunctionSet::chapter_6() - FunctionSet{Function::scan, Function::exscan};
    }
    return comm.topology != nullptr ? FunctionSet::chapter_6() | FunctionSet::neighborhood() : FunctionSet::chapter_6();
}

// The communicators that a table is for, in messages.
std::string describe(const Communicator& comm) {
    if (!comm.name.empty()) {
        return comm.name;
    }
    std::string text = std::string(comm.is_inter ? "inter" : "") + "communicators of " + comm.count_members();
    if (comm.topology != nullptr) {
        const int kind = comm.topology->kind();
        text += kind == MPI_CART ? " with a grid" : (kind == MPI_GRAPH ? " with a graph" : " with a distributed graph");
    }
    return text;
}

std::vector<std::string> missing_functions(const Communicator& comm, const Table& table) {
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < function_count; ++i) {
        const auto f = Function(i);
        const std::string name = function_name(f);
        if (!required(comm).has(f)) {
            continue;
        }
        if (table.find(f, Form::blocking) == nullptr) {
            missing.push_back(name);
        } else if (table.find(f, Form::nonblocking) == nullptr) {
            missing.push_back("i" + name);
        } else if (table.find(f, Form::persistent) == nullptr) {
            missing.push_back(name + "_init");
        }
    }
    return missing;
}

Error incomplete(const Communicator& comm, const std::string& object, const std::vector<std::string>& missing,
    const std::vector<std::string>& offered) {
    return {Errc::not_available,
        "framework coll: no component provides " + join(missing, ", ") + " for " + object +
            "; asked: " + join(offered, ", ") + ". Add a component that does (coll or patchbay_coll), such as " +
            (comm.is_inter ? "inter" : "basic")};
}

} // namespace

Result<Table*> Selector::select(
    Context& context, Communicator& comm, const std::string& only, const std::shared_ptr<ThreadTeam>& team) {
    // A predefined one is explained by its name. What a component knows of its job need not hold for other jobs.
    const bool may_share = only.empty() && comm.name.empty() && !comm.has_other_jobs();
    if (may_share) {
        if (Table* known = find(comm)) {
            return known;
        }
    }
    auto made = make(context, comm, only, team);
    if (made && may_share && (*made)->_shared) {
        keep(comm, **made);
    }
    return made;
}

Selector::Key Selector::key_of(const Communicator& comm) noexcept {
    return {comm.size, comm.is_inter, comm.topology != nullptr ? comm.topology->kind() : MPI_UNDEFINED,
        comm.view != nullptr};
}

Table* Selector::find(const Communicator& comm) noexcept {
    const Key key = key_of(comm);
    std::lock_guard lock(_mutex);
    for (std::size_t i = 0; i < _count; ++i) {
        if (_kept[i].key == key) {
            std::swap(_kept[0], _kept[i]);
            _kept[0].table->retain();
            return _kept[0].table;
        }
    }
    return nullptr;
}

void Selector::keep(const Communicator& comm, Table& table) noexcept {
    std::lock_guard lock(_mutex);
    if (_count == most_kept) {
        _kept[--_count].table->release();
    }
    table.retain();
    _kept[_count++] = {key_of(comm), &table};
    std::swap(_kept[0], _kept[_count - 1]);
}

void Selector::clear() noexcept {
    std::lock_guard lock(_mutex);
    while (_count > 0) {
        _kept[--_count].table->release();
    }
}

Result<Table*> Selector::make(
    Context& context, Communicator& comm, const std::string& only, const std::shared_ptr<ThreadTeam>& team) {
    const std::string object = describe(comm);
    auto release = [](Table* table) { table->release(); };
    std::unique_ptr<Table, decltype(release)> table(new Table(_engine), release);
    struct Offer {
        std::unique_ptr<Below> below;
        std::unique_ptr<Module> module;
        bool shared;
        bool passes_on;
        bool kept = false;
    };
    auto offers = _framework.select_all(
        object,
        [&](Component& component) -> Result<patchbay::Choice<Offer>> {
            auto below = std::make_unique<Below>();
            Query query{context, comm, *below, false, team};
            const bool others_are_shared = std::exchange(table->_shared, false); // should the component throw
            auto candidate = component.query(query);
            table->_shared = others_are_shared && (candidate || query.refusal_is_shared);
            if (!candidate) {
                return candidate.error();
            }
            if (candidate->module == nullptr) {
                return FrameworkBase::no_module();
            }
            return patchbay::Choice<Offer>{candidate->priority,
                std::make_unique<Offer>(
                    Offer{std::move(below), std::move(candidate->module), candidate->shared, candidate->passes_on})};
        },
        only);
    if (!offers) {
        return offers.error();
    }
    std::vector<std::string> offered;
    std::size_t kept = 0;
    bool passed_on = false; // whether a module above passes operations on
    for (const auto& offer : *offers) {
        offered.push_back(offer.name);
        table->_shared = table->_shared && offer.module->shared;
        const Provided provided = offer.module->module->provides();
        const bool serves = table->serve(*offer.module->module, provided);
        offer.module->kept = serves || (passed_on && !provided.empty());
        kept += offer.module->kept ? 1 : 0;
        passed_on = passed_on || (serves && offer.module->passes_on);
    }
    if (const auto missing = missing_functions(comm, *table); !missing.empty()) {
        return incomplete(comm, object, missing, offered);
    }
    std::stable_partition(offers->begin(), offers->end(), [](const auto& offer) { return offer.module->kept; });
    _framework.note_winner(object, *offers, kept);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kept; ++i) {
        Offer& offer = *(*offers)[i].module;
        offer.below->_table = table.get();
        offer.below->_position = i;
        const Provided provided = offer.module->provides();
        table->_entries.push_back({std::move(offer.below), std::move(offer.module), provided, (*offers)[i].name});
        names.push_back((*offers)[i].name);
    }
    // Interposers communicate with the other processes in ways of their own, which threads do not have.
    if (comm.view == nullptr) {
        if (Status wrapped = wrap(context, comm, object, names, *table); !wrapped) {
            return wrapped.error();
        }
    }
    return table.release();
}

Status Selector::wrap(Context& context, Communicator& comm, const std::string& object,
    const std::vector<std::string>& names, Table& table) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::unique_ptr<Module>& module = table._entries[i].module;
        Module* const former = module.get();
        auto wrapped = _framework.wrap(object, names[i], module,
            [&](Component& component, std::unique_ptr<Module>& one) { return component.wrap(context, comm, one); });
        if (!wrapped) {
            return wrapped.error();
        }
        if (_outermost != nullptr) {
            _outermost->wrap(comm, module);
        }
        if (module.get() != former) {
            table.replace(former, *module);
        }
    }
    return {};
}

bool Table::serve(Module& module, const Provided& provided) noexcept {
    bool serves = false;
    for (std::size_t form = 0; form < form_count; ++form) {
        for (std::size_t f = 0; f < function_count; ++f) {
            if (_serving[form][f] == nullptr && provided.in(Form(form)).has(Function(f))) {
                _serving[form][f] = &module;
                serves = true;
            }
        }
    }
    return serves;
}

void Table::replace(Module* former, Module& module) noexcept {
    for (auto& form : _serving) {
        std::replace(form.begin(), form.end(), former, &module);
    }
    _shared = false;
}

std::string_view Table::component_of(Function f, Form form) const noexcept {
    for (const Entry& entry : _entries) {
        if (entry.module.get() == find(f, form)) {
            return entry.component;
        }
    }
    return {};
}

Module* Below::find(Function f, Form form) const noexcept {
    for (std::size_t i = _position + 1; i < _table->_entries.size(); ++i) {
        const Table::Entry& entry = _table->_entries[i];
        if (entry.provided.in(form).has(f)) {
            return entry.module.get();
        }
    }
    return nullptr;
}

} // namespace patchbay::coll
