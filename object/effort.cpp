// SPDX-License-Identifier: BSD-3-Clause
#include "object/effort.h"

#include "core/base/out_of_memory.h"
#include "object/info.h"

#include <fmt/core.h>
#include <optional>

namespace patchbay {

namespace {

// nullopt: no effort has this value.
std::optional<Effort> parse_effort(std::string_view value) noexcept {
    if (value.size() != 1 || value[0] < '0' || value[0] > '3') {
        return std::nullopt;
    }
    return Effort(value[0] - '0');
}

} // namespace

Effort EffortKey::read(const Info* info, std::string_view function) noexcept {
    if (info == nullptr) [[likely]] {
        return Effort::bind;
    }
    return unless_out_of_memory(Effort::bind, [&] {
        const auto value = info->get("patchbay_effort");
        const auto known = value ? parse_effort(*value) : std::nullopt;
        if (value && !known) {
            _ill_value.warn(
                fmt::format("the info key patchbay_effort of {} is '{}', which is ignored: it must be 0, 1, 2 "
                            "or 3 (docs/parameters.md)",
                    function, *value));
        }
        return known.value_or(Effort::bind);
    });
}

} // namespace patchbay
