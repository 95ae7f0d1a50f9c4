// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/socket/settings.h"

#include "core/base/strings.h"

#include <climits>
#include <fmt/core.h>

namespace patchbay::btl::socket {

Result<Settings> Settings::read(const ParamRegistry& registry) {
    Settings settings;
    settings.eager_limit = registry.at("btl_socket_eager_limit").as_size();
    settings.packet_size = registry.at("btl_socket_packet_size").as_size();
    settings.buffer = registry.at("btl_socket_buffer").as_size();
    settings.failure_wait = registry.at("btl_socket_failure_wait").as_duration();
    settings.shortage_wait = registry.at("btl_socket_shortage_wait").as_duration();
    if (settings.eager_limit > settings.packet_size) {
        return Error{Errc::invalid,
            fmt::format("btl_socket_eager_limit={}: must be at most btl_socket_packet_size, which is {}",
                format_size(settings.eager_limit), format_size(settings.packet_size))};
    }
    if (settings.buffer < 4 * settings.packet_size || settings.buffer > INT_MAX) {
        return Error{Errc::invalid,
            fmt::format("btl_socket_buffer={}: must be from four times btl_socket_packet_size, which is {}, to 2GiB",
                format_size(settings.buffer), format_size(settings.packet_size))};
    }
    return settings;
}

} // namespace patchbay::btl::socket
