// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/channels.h"

#include "core/base/out_of_memory.h"
#include "frameworks/chan/bound_channels.h"
#include "frameworks/chan/tags.h"
#include "mpi/channels/matching.h"
#include "mpi/channels/pending_binding.h"
#include "mpi/channels/pending_unbinding.h"
#include "mpi/instance/instance.h"

namespace patchbay {

Channels::Channels(Instance& instance)
    : _instance(instance),
      _matching(std::make_unique<Matching>(*this)) {}

Channels::~Channels() = default;

int Channels::bind(std::span<const NewChannel> all, std::size_t* failed) noexcept {
    const Lock lock(_mutex);
    for (const NewChannel& what : all) {
        _texts.erase(what.in);
    }
    return PendingBinding::begin(*this, all, failed);
}

int Channels::bind(const NewChannel& what) noexcept {
    std::size_t failed = 0;
    return bind({&what, 1}, &failed);
}

int Channels::unbind(std::span<chan::Channel* const> all, std::size_t* failed) noexcept {
    const Lock lock(_mutex);
    return PendingUnbinding::begin(*this, all, failed);
}

void Channels::end(chan::Channel& channel) noexcept {
    channel.begin_unbinding();
    channel.disconnect();
    channel.end_unbinding(MPI_SUCCESS);
    channel.recycle();
}

// Where the library has gone down, the channel is disconnected already (close()).
void Channels::release(chan::Channel& channel) noexcept {
    if (_instance.bound_channels().remove(channel)) {
        end(channel);
    } else {
        channel.recycle();
    }
}

std::string_view Channels::cause_of(const Request& in) noexcept {
    const Lock lock(_mutex);
    const auto found = _texts.find(&in);
    return found != _texts.end() ? std::string_view(found->second) : std::string_view();
}

void Channels::note_text(const Request& in, std::string_view text) noexcept {
    unless_out_of_memory(0, [&] {
        _texts.insert_or_assign(&in, std::string(text));
        return 0;
    });
}

int Channels::take_number() noexcept {
    return unless_out_of_memory(int(no_number), [&] {
        if (!_free_numbers.empty()) {
            const int number = _free_numbers.back();
            _free_numbers.pop_back();
            return number;
        }
        if (_next_number == chan::most_numbers) {
            return int(no_number);
        }
        _free_numbers.reserve(std::size_t(_next_number) + 1); // so that give_back_number() needs no memory
        return _next_number++;
    });
}

void Channels::give_back_number(int number) noexcept {
    if (number != no_number) {
        _free_numbers.push_back(number);
    }
}

void Channels::remove(Pending& pending) noexcept {
    std::erase(_pending, &pending);
}

// Does not wait for the other side, which may use its half still.
void Channels::end_locally(chan::Channel& channel) noexcept {
    channel.disconnect();
    if (!channel.is_active() && !channel.is_of_operation()) { // otherwise it belongs to what has started it
        channel.leave_list();
        channel.recycle();
    }
}

void Channels::abandon(const Session* session) noexcept {
    const auto is_of = [session](const chan::Channel& channel) {
        return channel.session == session && !channel.is_unbinding() && !channel.is_of_operation();
    };
    while (chan::Channel* channel = _instance.bound_channels().take(is_of)) {
        end_locally(*channel);
    }
}

void Channels::close() noexcept {
    const Lock lock(_mutex);
    _closing = true;
    _matching->give_up();
    const std::vector<Pending*> pending = unless_out_of_memory(std::vector<Pending*>(), [&] { return _pending; });
    for (Pending* one : pending) {
        one->give_up();
    }
    while (chan::Channel* channel =
               _instance.bound_channels().take([](const chan::Channel& one) { return !one.is_unbinding(); })) {
        end_locally(*channel);
    }
}

} // namespace patchbay
