// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "tests/fakes/unused_pml.h"

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace patchbay::test {

class LoopbackPml;

// A message of a process to itself, of a dense datatype.
class LoopbackMessage final : public Request {
public:
    LoopbackMessage(LoopbackPml& pml, bool sends, void* data, std::size_t bytes, int tag, bool is_persistent,
        Progress& waits) noexcept
        : pml(pml),
          sends(sends),
          data(data),
          bytes(bytes),
          tag(tag) {
        progress = &waits;
        persistent = is_persistent;
    }
    ~LoopbackMessage() override = default;
    int start() noexcept override;
    int cancel() noexcept override;

    LoopbackPml& pml;
    const bool sends;
    void* const data;
    const std::size_t bytes;
    const int tag;

    using Request::set_active;

private:
    int retire() noexcept override;
};

// Messages of this process to itself, matched by their tags. Each is delivered by a poll, one message for each poll.
class LoopbackPml final : public UnusedPml {
public:
    explicit LoopbackPml(Progress& progress)
        : _progress(progress),
          _lock(progress.threads()),
          _poller(progress.add_poller(
              [](void* self) noexcept { return static_cast<LoopbackPml*>(self)->deliver(); }, this)) {}
    ~LoopbackPml() override { _poller.reset(); }

    // The number of messages that were sent, and of requests that exist.
    int sent() const noexcept { return _sent.load(); }
    int existing() const noexcept { return _existing.load(); }

    int isend(const void* data, MPI_Count count, const Datatype& type, int, int tag, pml::SendMode, Communicator&,
        Request** request) noexcept override {
        return begin(make(true, const_cast<void*>(data), count, type, tag, false), request);
    }
    int irecv(void* data, MPI_Count count, const Datatype& type, int, int tag, Communicator&,
        Request** request) noexcept override {
        return begin(make(false, data, count, type, tag, false), request);
    }
    int send_init(const void* data, MPI_Count count, const Datatype& type, int, int tag, pml::SendMode, Communicator&,
        Request** request) noexcept override {
        *request = make(true, const_cast<void*>(data), count, type, tag, true);
        return MPI_SUCCESS;
    }
    int recv_init(void* data, MPI_Count count, const Datatype& type, int, int tag, Communicator&,
        Request** request) noexcept override {
        *request = make(false, data, count, type, tag, true);
        return MPI_SUCCESS;
    }

    // For the messages.
    void start(LoopbackMessage& message) noexcept {
        const std::lock_guard lock(_lock);
        message.set_active();
        if (message.sends) {
            ++_sent;
            _sends.push_back(&message);
        } else {
            _receives[message.tag].push_back(&message);
        }
    }
    void cancel(LoopbackMessage& message) noexcept {
        const std::lock_guard lock(_lock);
        std::deque<LoopbackMessage*>& posted = _receives[message.tag];
        if (!message.sends && std::erase(posted, &message) != 0) {
            set_status_cancelled(message.status, true);
            message.complete();
        }
    }
    LoopbackMessage& copy_of(const LoopbackMessage& message) noexcept {
        ++_existing;
        return *new LoopbackMessage(
            *this, message.sends, message.data, message.bytes, message.tag, message.persistent, _progress);
    }
    void free(LoopbackMessage& message) noexcept {
        --_existing;
        delete &message;
    }

private:
    LoopbackMessage* make(
        bool sends, void* data, MPI_Count count, const Datatype& type, int tag, bool is_persistent) noexcept {
        ++_existing;
        return new LoopbackMessage(
            *this, sends, data, std::size_t(count) * std::size_t(type.size), tag, is_persistent, _progress);
    }
    int begin(LoopbackMessage* message, Request** request) noexcept {
        *request = message;
        start(*message);
        return MPI_SUCCESS;
    }
    int deliver() noexcept {
        const std::lock_guard lock(_lock);
        for (auto send = _sends.begin(); send != _sends.end(); ++send) {
            std::deque<LoopbackMessage*>& posted = _receives[(*send)->tag];
            if (posted.empty()) {
                continue;
            }
            LoopbackMessage& from = **send;
            LoopbackMessage& to = *posted.front();
            posted.pop_front();
            _sends.erase(send);
            if (from.bytes != 0) {
                std::memcpy(to.data, from.data, from.bytes);
            }
            from.complete();
            to.complete();
            return 1;
        }
        return 0;
    }

    Progress& _progress;
    ProgressLock _lock;
    std::deque<LoopbackMessage*> _sends;
    std::map<int, std::deque<LoopbackMessage*>> _receives;
    std::atomic<int> _sent{0};
    std::atomic<int> _existing{0};
    PollerHandle _poller;
};

inline int LoopbackMessage::start() noexcept {
    pml.start(*this);
    return MPI_SUCCESS;
}
inline int LoopbackMessage::cancel() noexcept {
    pml.cancel(*this);
    return MPI_SUCCESS;
}
inline int LoopbackMessage::retire() noexcept {
    pml.free(*this);
    return MPI_SUCCESS;
}

} // namespace patchbay::test
