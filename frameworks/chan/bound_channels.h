// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/chan/chan.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {
namespace chan {

// The channels of this process between create() and disconnect(). Thread-safe.
class BoundChannels {
public:
    BoundChannels() noexcept;
    ~BoundChannels();
    BoundChannels(const BoundChannels&) = delete;
    BoundChannels& operator=(const BoundChannels&) = delete;

    // Throws std::bad_alloc.
    void add(Channel& channel);
    // Whether it was there.
    bool remove(Channel& channel) noexcept;
    // Tells those whose partner that is. Called by a poller.
    void peer_failed(ProcessId process) noexcept;
    template <class Condition>
    std::size_t count(const Condition& condition) noexcept {
        const std::lock_guard lock(_mutex);
        return std::size_t(
            std::count_if(_channels.begin(), _channels.end(), [&](Channel* one) { return condition(*one); }));
    }
    // Removes one for which condition(channel) is true; nullptr: there is none.
    template <class Condition>
    Channel* take(const Condition& condition) noexcept {
        const std::lock_guard lock(_mutex);
        const auto found =
            std::find_if(_channels.begin(), _channels.end(), [&](Channel* one) { return condition(*one); });
        Channel* const channel = found != _channels.end() ? *found : nullptr;
        if (channel != nullptr) {
            _channels.erase(found);
        }
        return channel;
    }

private:
    std::mutex _mutex;
    std::vector<Channel*> _channels; // protected by it
};

} // namespace chan
} // namespace patchbay
