// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/settings.h"

#include <bit>
#include <fmt/core.h>

namespace patchbay::btl::sm {

namespace {

Status check_power_of_two(const Param& param) {
    return std::has_single_bit(std::uint64_t(param.as_number()))
        ? Status()
        : Status(Error{Errc::invalid, fmt::format("{}={}: must be a power of two", param.name(), param.text())});
}

} // namespace

std::string Settings::layout_text() const {
    return fmt::format("btl_sm_slots={} btl_sm_bulk_size={}", shape.slots, shape.bulk_size);
}

Result<Settings> Settings::read(const ParamRegistry& registry) {
    Settings settings;
    const Param& slots = registry.at("btl_sm_slots");
    const Param& bulk = registry.at("btl_sm_bulk_size");
    for (const Param* param : {&slots, &bulk}) {
        if (Status status = check_power_of_two(*param); !status) {
            return status.error();
        }
    }
    settings.shape = {std::uint32_t(slots.as_int()), bulk.as_size()};
    settings.rings = unsigned(registry.at("btl_sm_rings").as_int());
    settings.ring_after = unsigned(registry.at("btl_sm_ring_after").as_int());
    settings.queue_size = registry.at("btl_sm_queue_size").as_size();
    settings.eager_limit = registry.at("btl_sm_eager_limit").as_size();
    settings.get_limit = registry.at("btl_sm_get_limit").as_size();
    settings.single_copy = SingleCopy(registry.at("btl_sm_single_copy").as_enum());
    settings.stores = Stores(registry.at("btl_sm_stores").as_enum());
    if (settings.eager_limit > settings.packet()) {
        return Error{Errc::invalid,
            fmt::format("btl_sm_eager_limit={}: with btl_sm_bulk_size={} a packet has at most {} bytes; raise "
                        "btl_sm_bulk_size or lower btl_sm_eager_limit",
                settings.eager_limit, settings.shape.bulk_size, settings.packet())};
    }
    return settings;
}

} // namespace patchbay::btl::sm
