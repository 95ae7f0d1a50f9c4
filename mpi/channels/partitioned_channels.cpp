// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/partitioned_channels.h"

#include "core/base/out_of_memory.h"
#include "frameworks/chan/tags.h"
#include "mpi/channels/channels.h"
#include "mpi/communicators/hints.h"
#include "mpi/instance/instance.h"

namespace patchbay {

// Not in the poll in which the messages are bound.
bool PartitionedChannels::prepare() noexcept {
    return unless_out_of_memory(false, [this] { return bool(_channels.instance().open_chan()); });
}

bool PartitionedChannels::would_bind(const pml::PersistentRequest& message, Communicator& comm) noexcept {
    const chan::Binding binding = binding_of_message(
        message.mode.has_value(), message.buffer, message.count, *message.type, message.peer, message.tag, comm);
    return unless_out_of_memory(false, [&] {
        Instance& instance = _channels.instance();
        chan::Selector::Candidates candidates{};
        return instance.chan_selector().query(instance, binding, hint(comm, "patchbay_chan"), &candidates) &&
            keep_used(instance, _use, chan::Faster::among_others, binding, candidates);
    });
}

bool PartitionedChannels::take(int count) noexcept {
    std::int64_t free = _free.load(std::memory_order_relaxed);
    while (free >= count) {
        if (_free.compare_exchange_weak(free, free - count, std::memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

int PartitionedChannels::bind(Request& message, Request** channel) noexcept {
    NewChannel what{};
    what.in = &message;
    what.slackness = 1;
    what.channel = channel;
    what.use = _use;
    return _channels.bind(what);
}

void PartitionedChannels::unbind(Request& channel) noexcept {
    auto& half = static_cast<chan::Channel&>(channel);
    const int number = chan::number_of_component_tag(half.binding().tag_here);
    _channels.release(half);
    const Channels::Lock lock(_channels.mutex());
    _channels.give_back_number(number);
}

} // namespace patchbay
