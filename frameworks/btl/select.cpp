// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/btl/select.h"

#include "core/core.h"
#include "frameworks/context.h"

#include <fmt/core.h>
#include <string>
#include <utility>

namespace patchbay::btl {

namespace {

Status check_limits(const std::string& component, const Limits& limits) {
    if (limits.header >= smallest_header_room && limits.packet > 0 && limits.eager <= limits.packet) {
        return {};
    }
    return Error{Errc::invalid,
        fmt::format(
            "component {} of framework btl has a module whose packets have room for {} bytes of header and {} of "
            "payload, and a whole message {} bytes: a packet needs room for {} bytes of header and for such a message",
            component, limits.header, limits.packet, limits.eager, smallest_header_room)};
}

} // namespace

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
        if (Status checked = check_limits(offer.name, offer.module->limits()); !checked) {
            return checked.error();
        }
        modules.push_back(std::move(offer.module));
    }
    return Selection{std::move(*lease), std::move(modules)}; // not before: the lease outlives all modules of `offers`
}

} // namespace patchbay::btl
