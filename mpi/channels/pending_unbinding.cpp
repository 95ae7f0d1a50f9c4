// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/pending_unbinding.h"

#include "core/base/out_of_memory.h"
#include "frameworks/chan/bound_channels.h"
#include "frameworks/chan/tags.h"
#include "mpi/instance/instance.h"
#include "object/origins.h"

#include <utility>

namespace patchbay {

namespace {

Progress& progress_of(Channels& owner, const chan::Channel& channel) noexcept {
    return channel.binding().comm->progress_or(owner.instance().progress());
}

} // namespace

PendingUnbinding::PendingUnbinding(Channels& owner, chan::Channel& channel) noexcept
    : _owner(owner),
      _channel(channel),
      _sending(progress_of(owner, channel), *channel.binding().comm, *this),
      _receiving(progress_of(owner, channel), *channel.binding().comm, *this),
      _next(progress_of(owner, channel), *this) {}

int PendingUnbinding::begin(Channels& owner, std::span<chan::Channel* const> all, std::size_t* failed) noexcept {
    PendingUnbinding* first = nullptr;
    PendingUnbinding** end = &first;
    int code = MPI_SUCCESS;
    for (*failed = 0; *failed < all.size(); ++*failed) {
        code = prepare(owner, *all[*failed], end);
        if (code != MPI_SUCCESS) {
            break;
        }
        end = &(*end)->_following;
    }
    if (code == MPI_SUCCESS) {
        code = send_messages(first, failed);
    }
    while (first != nullptr) {
        PendingUnbinding* const one = std::exchange(first, first->_following);
        code == MPI_SUCCESS ? one->begin() : one->undo();
    }
    return code;
}

// *made is null after an error.
int PendingUnbinding::prepare(Channels& owner, chan::Channel& channel, PendingUnbinding** made) noexcept {
    *made = nullptr;
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        *made = new PendingUnbinding(owner, channel);
        owner.add(**made);
        return (*made)->prepare();
    });
    if (code != MPI_SUCCESS && *made != nullptr) {
        std::exchange(*made, nullptr)->undo();
    }
    return code;
}

// The receive is not posted yet: it might take the message of the other side before undo().
int PendingUnbinding::prepare() noexcept {
    if (!has_partner()) {
        return MPI_SUCCESS;
    }
    const int code = _receiving.prepare(message_to_here());
    return code == MPI_SUCCESS ? _sending.prepare(message_to_there()) : code;
}

// Messages without data: what they say is in their tags.
PreparedMessage::What PendingUnbinding::message_to_there() const noexcept {
    const chan::Binding& binding = _channel.binding();
    return {true, nullptr, 0, binding.peer, chan::setup_tag(chan::number_of_component_tag(binding.tag_there))};
}

PreparedMessage::What PendingUnbinding::message_to_here() const noexcept {
    const chan::Binding& binding = _channel.binding();
    return {false, nullptr, 0, binding.peer, chan::setup_tag(chan::number_of_component_tag(binding.tag_here))};
}

// As PendingBinding::send_proposals().
int PendingUnbinding::send_messages(PendingUnbinding* first, std::size_t* failed) noexcept {
    bool sent = false;
    *failed = 0;
    for (PendingUnbinding* one = first; one != nullptr; one = one->_following) {
        if (one->has_partner()) {
            const int code = one->_sending.launch(one->message_to_there());
            if (code == MPI_ERR_NO_MEM && !sent) {
                return code;
            }
            sent = true;
        }
        *failed += !sent;
    }
    return MPI_SUCCESS;
}

void PendingUnbinding::begin() noexcept {
    _following = nullptr;
    if (Origins* const origins = Origins::active()) {
        origins->remove(to_handle<Request>(&_channel));
    }
    _channel.begin_unbinding();
    if (has_partner()) {
        _receiving.start(message_to_here());
        _sending.follow_unless_ended();
    } else {
        _next.post();
    }
}

void PendingUnbinding::undo() noexcept {
    if (_sending.is_under_way()) {
        _sending.abandon(); // it has not been sent
    }
    _owner.remove(*this);
    delete this;
}

void PendingUnbinding::give_up() noexcept {
    if (_receiving.is_under_way()) {
        _receiving.cancel();
    }
}

void PendingUnbinding::ended(PreparedMessage& message) noexcept {
    const Channels::Lock lock(_owner.mutex());
    if (message.lacks_memory() && !_owner.is_closing()) {
        message.start_again();
        return;
    }
    if (_code == MPI_SUCCESS && !message.is_cancelled()) {
        _code = message.code();
    }
    if (message.code() != MPI_SUCCESS && &message == &_sending && _receiving.is_under_way()) {
        _receiving.cancel(); // the other side does not know, and perhaps cannot
    }
    message.end();
    if (!_sending.is_under_way() && !_receiving.is_under_way()) {
        finish();
    }
}

void PendingUnbinding::finish() noexcept {
    const Channels::Lock lock(_owner.mutex());
    _owner.instance().bound_channels().remove(_channel);
    if (has_partner()) {
        _owner.give_back_number(chan::number_of_component_tag(_channel.binding().tag_here));
    }
    _owner.remove(*this);
    _sending.release(); // before the program learns of the end: they have references to its communicator
    _receiving.release();
    _channel.disconnect();
    _channel.end_unbinding(_code);
    delete this;
}

} // namespace patchbay
