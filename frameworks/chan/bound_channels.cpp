// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/chan/bound_channels.h"

namespace patchbay::chan {

BoundChannels::BoundChannels() noexcept = default;
BoundChannels::~BoundChannels() = default;

void BoundChannels::add(Channel& channel) {
    const std::lock_guard lock(_mutex);
    _channels.push_back(&channel);
}

bool BoundChannels::remove(Channel& channel) noexcept {
    const std::lock_guard lock(_mutex);
    return std::erase(_channels, &channel) != 0;
}

void BoundChannels::peer_failed(ProcessId process) noexcept {
    const std::lock_guard lock(_mutex);
    for (Channel* channel : _channels) {
        if (channel->binding().partner == process && channel->binding().peer >= 0) {
            channel->partner_failed();
        }
    }
}

} // namespace patchbay::chan
