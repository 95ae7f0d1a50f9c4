// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/selector.h"

#include "core/base/strings.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace patchbay::coll {

namespace {

// On intercommunicators there is no order of all processes (MPI-5.0, 6.2.2).
bool is_defined(Function f, const Communicator& comm) noexcept {
    return !comm.is_inter || (f != Function::scan && f != Function::exscan);
}

std::vector<std::string> missing_functions(
    const Communicator& comm, const std::array<Module*, function_count>& serving) {
    std::vector<std::string> missing;
    for (std::size_t f = 0; f < function_count; ++f) {
        if (serving[f] == nullptr && is_defined(Function(f), comm)) {
            missing.emplace_back(function_name(Function(f)));
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

Result<Table*> Selector::select(Context& context, Communicator& comm, const std::string& only) {
    const bool may_share = only.empty() && comm.name.empty(); // a predefined one is explained by its name
    if (may_share) {
        if (Table* known = find(comm)) {
            return known;
        }
    }
    auto made = make(context, comm, only);
    if (made && may_share && (*made)->_shared) {
        keep(comm, **made);
    }
    return made;
}

Table* Selector::find(const Communicator& comm) noexcept {
    std::lock_guard lock(_mutex);
    for (std::size_t i = 0; i < _count; ++i) {
        if (_kept[i].size == comm.size && _kept[i].is_inter == comm.is_inter) {
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
    _kept[_count++] = {comm.size, comm.is_inter, &table};
    std::swap(_kept[0], _kept[_count - 1]);
}

void Selector::clear() noexcept {
    std::lock_guard lock(_mutex);
    while (_count > 0) {
        _kept[--_count].table->release();
    }
}

Result<Table*> Selector::make(Context& context, Communicator& comm, const std::string& only) {
    const std::string object = !comm.name.empty()
        ? comm.name
        : std::string(comm.is_inter ? "inter" : "") + "communicators of " + std::to_string(comm.size) + " processes";
    struct Offer {
        std::unique_ptr<Module> module;
        bool shared;
    };
    auto offers = _framework.select_all(
        object,
        [&](Component& component) -> Result<patchbay::Choice<Offer>> {
            auto candidate = component.query(context, comm);
            if (!candidate) {
                return candidate.error();
            }
            return patchbay::Choice<Offer>{
                candidate->priority, std::make_unique<Offer>(Offer{std::move(candidate->module), candidate->shared})};
        },
        only);
    if (!offers) {
        return offers.error();
    }
    auto release = [](Table* table) { table->release(); };
    std::unique_ptr<Table, decltype(release)> table(new Table, release);
    std::set<const Module*> used;
    std::vector<std::string> offered;
    for (const auto& offer : *offers) {
        offered.push_back(offer.name);
        table->_shared = table->_shared && offer.module->shared;
        const Module& module = *offer.module->module;
        for (std::size_t f = 0; f < function_count; ++f) {
            if (table->_serving[f] == nullptr && (module.provides() >> f & 1u) != 0) {
                table->_serving[f] = offer.module->module.get();
                used.insert(&module);
            }
        }
    }
    if (const auto missing = missing_functions(comm, table->_serving); !missing.empty()) {
        return incomplete(comm, object, missing, offered);
    }
    std::stable_partition(
        offers->begin(), offers->end(), [&](const auto& offer) { return used.contains(offer.module->module.get()); });
    _framework.note_winner(object, *offers, used.size());
    for (std::size_t i = 0; i < used.size(); ++i) {
        Module* const former = (*offers)[i].module->module.get();
        std::unique_ptr<Module>& module = (*offers)[i].module->module;
        auto wrapped = _framework.wrap(object, (*offers)[i].name, module,
            [&](Component& component, std::unique_ptr<Module>& one) { return component.wrap(context, comm, one); });
        if (!wrapped) {
            return wrapped.error();
        }
        if (module.get() != former) {
            table->_shared = false;
            std::replace(table->_serving.begin(), table->_serving.end(), former, module.get());
        }
        table->_modules.push_back(std::move(module));
    }
    return table.release();
}

} // namespace patchbay::coll
