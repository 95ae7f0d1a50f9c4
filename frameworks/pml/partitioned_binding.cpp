// SPDX-License-Identifier: BSD-3-Clause
// Messages of partitioned requests that are carried by channels: how they are bound, and how they end.
#include "core/progress/progress.h"
#include "frameworks/pml/message_binder.h"
#include "frameworks/pml/partitioned.h"
#include "frameworks/pml/partitioned_engine.h"

#include <mutex>
#include <optional>

namespace patchbay::pml {

// Ranks that are threads have messages of their own.
void Partitioned::prepare_channels() noexcept {
    checks_itself =
        _what.may_bind && _engine.binder() != nullptr && _comm->view == nullptr && _engine.binder()->prepare();
}

bool Partitioned::take_channels(int messages, Elements elements) noexcept {
    const PersistentRequest message{at(elements.first), elements.count, _what.type, _what.peer, _what.tag,
        _what.sends ? std::optional(SendMode::standard) : std::nullopt};
    if (checks_itself && _engine.binder()->would_bind(message, *_comm) && _engine.binder()->take(messages)) {
        _taken = messages;
    }
    return _taken != 0;
}

void Partitioned::keep_channels(int count) noexcept {
    if (_taken > count) {
        _engine.binder()->give_back(_taken - count);
        _taken = count;
    }
}

void Partitioned::bind_messages() noexcept {
    if (_taken != 0) {
        end_bindings();
        if (_begun != _made && begin_bindings()) {
            return; // it is called again
        }
        end_bindings();
        if (_begun != _made) { // the next start goes on, for which the other side waits
            fail_start(MPI_ERR_NO_MEM);
            close_round();
            return;
        }
    }
    int channels = 0;
    for (int i = 0; i < _made; ++i) {
        channels += _messages[i].by_channel;
    }
    keep_channels(channels);
    if (channels != 0) {
        _round.count_up(); // for look()
        _channels.store(channels, std::memory_order_release);
    }
    start_first_round();
}

// Begins what has not begun, as far as there is memory. false: all of that has ended.
bool Partitioned::begin_bindings() noexcept {
    int code = MPI_SUCCESS;
    _after_bindings.open();
    while (_begun != _made && code != MPI_ERR_NO_MEM) {
        Message& message = _messages[_begun];
        code = _engine.binder()->bind(*message.request, &message.channel);
        if (code == MPI_SUCCESS) {
            message.request->attach(_after_bindings);
        }
        _begun += code != MPI_ERR_NO_MEM;
    }
    return !_after_bindings.close();
}

void Partitioned::end_bindings() noexcept {
    for (; _ended != _begun; ++_ended) {
        Message& message = _messages[_ended];
        if (message.request->is_borrowed()) {
            message.request->give_back();
            message.request->end_start();
        }
        if (message.channel != nullptr) {
            use_channel(message);
        }
    }
}

void Partitioned::use_channel(Message& message) noexcept {
    Request* const replaced = message.request;
    message.request = message.channel;
    message.by_channel = true;
    _references.fetch_add(
        message.request->references_to_comm() - replaced->references_to_comm(), std::memory_order_relaxed);
    replaced->recycle();
}

void Partitioned::look() noexcept {
    if (_channels.load(std::memory_order_acquire) == 0) {
        return; // they are not bound yet, or the pml carries all
    }
    bool ended;
    {
        const std::lock_guard hold(_looks);
        ended = look_at_channels();
    }
    if (ended && _round.close()) {
        end_round(); // without the lock, because this object may not exist afterwards
    }
}

// In their order, each until it has ended: the start does not end before the slowest one. true: once in a round, when
// all have ended.
bool Partitioned::look_at_channels() noexcept {
    if (_next_look > _made) {
        return false;
    }
    while (_next_look < _made) {
        if (Message& message = _messages[_next_look]; message.by_channel && !has_ended(message)) {
            return false;
        }
        ++_next_look;
    }
    return _next_look++ == _made;
}

// One that could not be started is not active.
bool Partitioned::has_ended(Message& message) noexcept {
    return message.started.load(std::memory_order_acquire) == _round_number &&
        (!message.request->is_active() || message.request->has_completed());
}

bool Partitioned::has_ended(int i) noexcept {
    Message& message = _messages[i];
    if (!message.by_channel || message.request->is_complete()) {
        return message.request->is_complete();
    }
    const std::lock_guard hold(_looks);
    return has_ended(message);
}

} // namespace patchbay::pml
