// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/selector.h"

#include "core/base/strings.h"

#include <algorithm>
#include <set>

namespace patchbay::coll {

namespace {

Error incomplete(const std::string& object, const std::array<Module*, function_count>& serving,
                 const std::vector<std::string>& offered) {
    std::vector<std::string> missing;
    for (std::size_t f = 0; f < function_count; ++f) {
        if (serving[f] == nullptr) {
            missing.emplace_back(function_name(Function(f)));
        }
    }
    return {Errc::not_available, "framework coll: no component provides " + join(missing, ", ") + " for " + object +
                                     "; asked: " + join(offered, ", ") +
                                     ". Add a component that does (coll or patchbay_coll), such as basic"};
}

} // namespace

Result<std::unique_ptr<Table>> Selector::select(Framework<Component>& framework, Instance& instance,
                                                Communicator& comm, const std::string& object,
                                                const std::string& only) {
    auto offers = framework.select_all(
        object,
        [&](Component& component) -> Result<patchbay::Choice<Module>> {
            auto candidate = component.query(instance, comm);
            if (!candidate) {
                return candidate.error();
            }
            return patchbay::Choice<Module>{candidate->priority, std::move(candidate->module)};
        },
        only);
    if (!offers) {
        return offers.error();
    }
    auto table = std::make_unique<Table>();
    std::set<const Module*> used;
    std::vector<std::string> offered;
    for (const auto& offer : *offers) {
        offered.push_back(offer.name);
        for (std::size_t f = 0; f < function_count; ++f) {
            if (table->_serving[f] == nullptr && (offer.module->provides() >> f & 1u) != 0) {
                table->_serving[f] = offer.module.get();
                used.insert(offer.module.get());
            }
        }
    }
    if (std::count(table->_serving.begin(), table->_serving.end(), nullptr) != 0) {
        return incomplete(object, table->_serving, offered);
    }
    std::stable_partition(offers->begin(), offers->end(),
                          [&](const auto& offer) { return used.contains(offer.module.get()); });
    framework.note_winner(object, *offers, used.size());
    offers->resize(used.size());
    for (auto& offer : *offers) {
        table->_modules.push_back(std::move(offer.module));
    }
    return table;
}

} // namespace patchbay::coll
