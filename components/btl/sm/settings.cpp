// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/settings.h"

#include <bit>
#include <fmt/core.h>

namespace patchbay::btl::sm {

namespace {

template <class T>
Status check_power_of_two(const char* name, T value, T lowest, T highest) {
    if (value >= lowest && value <= highest && std::has_single_bit(std::uint64_t(value))) {
        return {};
    }
    return Error{
        Errc::invalid, fmt::format("btl_sm_{}={}: must be a power of two from {} to {}", name, value, lowest, highest)};
}

Status check_range(const char* name, std::int64_t value, std::int64_t lowest, std::int64_t highest) {
    if (value >= lowest && value <= highest) {
        return {};
    }
    return Error{Errc::invalid, fmt::format("btl_sm_{}={}: must be from {} to {}", name, value, lowest, highest)};
}

} // namespace

std::string Settings::layout_text() const {
    return fmt::format("btl_sm_slots={} btl_sm_bulk_size={}", shape.slots, shape.bulk_size);
}

Result<Settings> Settings::read(const ParamRegistry& registry) {
    Settings settings;
    const std::int64_t slots = registry.at("btl_sm_slots").as_int();
    const std::size_t bulk = registry.at("btl_sm_bulk_size").as_size();
    if (Status status = check_power_of_two<std::int64_t>("slots", slots, 8, 32768); !status) {
        return status.error();
    }
    if (Status status = check_power_of_two<std::size_t>("bulk_size", bulk, 4096, std::size_t(16) << 20); !status) {
        return status.error();
    }
    settings.shape = {std::uint32_t(slots), bulk};
    const std::int64_t rings = registry.at("btl_sm_rings").as_int();
    const std::int64_t ring_after = registry.at("btl_sm_ring_after").as_int();
    if (Status status = check_range("rings", rings, 0, 16); !status) {
        return status.error();
    }
    if (Status status = check_range("ring_after", ring_after, 1, 1'000'000); !status) {
        return status.error();
    }
    settings.rings = unsigned(rings);
    settings.ring_after = unsigned(ring_after);
    settings.queue_size = registry.at("btl_sm_queue_size").as_size();
    settings.eager_limit = registry.at("btl_sm_eager_limit").as_size();
    settings.get_limit = registry.at("btl_sm_get_limit").as_size();
    settings.single_copy = SingleCopy(registry.at("btl_sm_single_copy").as_enum());
    settings.stores = Stores(registry.at("btl_sm_stores").as_enum());
    if (settings.eager_limit > settings.packet()) {
        return Error{Errc::invalid,
            fmt::format("btl_sm_eager_limit={}: with btl_sm_bulk_size={} a packet has at most {} bytes; raise "
                        "btl_sm_bulk_size or lower btl_sm_eager_limit",
                settings.eager_limit, bulk, settings.packet())};
    }
    return settings;
}

} // namespace patchbay::btl::sm
