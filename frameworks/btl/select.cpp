// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/btl/select.h"

#include "core/core.h"
#include "frameworks/context.h"

#include <utility>

namespace patchbay::btl {

Result<Selection> select(Framework<Component>& framework, Context& context) {
    auto lease = framework.open(context.core());
    if (!lease) {
        return lease.error();
    }
    auto offers = framework.select_all("job", [&](Component& component) -> Result<Choice<Module>> {
        auto candidate = component.query(context);
        if (!candidate) {
            return candidate.error();
        }
        return Choice<Module>{candidate->priority, std::move(candidate->module)};
    });
    if (!offers) {
        return offers.error();
    }
    framework.note_winner("job", *offers, offers->size());
    std::vector<std::unique_ptr<Module>> modules;
    for (auto& offer : *offers) {
        auto wrapped = framework.wrap("job", offer.name, offer.module,
            [&](Component& component, std::unique_ptr<Module>& module) { return component.wrap(context, module); });
        if (!wrapped) {
            return wrapped.error();
        }
        modules.push_back(std::move(offer.module));
    }
    return Selection{std::move(*lease), std::move(modules)}; // not before: the lease outlives all modules of `offers`
}

} // namespace patchbay::btl
