// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/message_binder.h"
#include "tests/part/loopback_pml.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <set>

namespace patchbay::test {

// A message of LoopbackPml as a channel has it: it completes in check().
class LoopbackChannel final : public Request {
public:
    LoopbackChannel(Request& message, std::atomic<int>& existing, Progress& waits) noexcept
        : _message(message),
          _existing(existing) {
        ++_existing;
        progress = &waits;
        persistent = true;
        checks_itself = true;
    }
    ~LoopbackChannel() override { --_existing; }
    int start() noexcept override {
        set_active();
        return _message.start();
    }
    int cancel() noexcept override { return MPI_ERR_REQUEST; }

private:
    void check() noexcept override {
        if (_message.is_complete()) {
            _message.end_start();
            progress->with_thread_level([this](bool) { complete(); });
        }
    }
    int retire() noexcept override {
        _message.recycle();
        delete this;
        return MPI_SUCCESS;
    }

    Request& _message;
    std::atomic<int>& _existing;
};

// Binds messages of LoopbackPml, each by a poll of its own. What a test sets is the same for both sides.
class LoopbackBinder final : public pml::MessageBinder {
public:
    explicit LoopbackBinder(Progress& progress, int most)
        : _progress(progress),
          _lock(progress.threads()),
          _free(most),
          _poller(progress.add_poller(
              [](void* self) noexcept { return static_cast<LoopbackBinder*>(self)->advance(); }, this)) {}
    ~LoopbackBinder() { _poller.reset(); }

    int existing() const noexcept { return _existing.load(); } // channels
    int bound() const noexcept { return _bound.load(); }       // calls of bind() that have begun something
    int free() const noexcept { return _free.load(); }
    // After `fine` more calls of bind(), `failures` of them find no memory.
    void fail_after(int fine, int failures) noexcept {
        _fine = fine;
        _failures = failures;
    }
    bool wanted = true;
    std::set<int> refused; // messages with these tags have no component in common

    bool prepare() noexcept override { return true; }
    bool would_bind(const pml::PersistentRequest&, Communicator&) noexcept override { return wanted; }
    bool take(int count) noexcept override {
        if (_free < count) {
            return false;
        }
        _free -= count;
        return true;
    }
    void give_back(int count) noexcept override { _free += count; }
    int bind(Request& message, Request** channel) noexcept override {
        if (_failures > 0 && _fine-- <= 0) {
            --_failures;
            return MPI_ERR_NO_MEM;
        }
        const std::lock_guard lock(_lock);
        ++_bound;
        *channel = nullptr;
        message.borrow();
        _pending.push_back({static_cast<LoopbackMessage*>(&message), channel});
        return MPI_SUCCESS;
    }
    void unbind(Request& channel) noexcept override { channel.recycle(); }

private:
    struct Pending {
        LoopbackMessage* message;
        Request** channel;
    };

    int advance() noexcept {
        const std::lock_guard lock(_lock);
        if (_pending.empty()) {
            return 0;
        }
        const Pending one = _pending.front();
        _pending.pop_front();
        LoopbackMessage& message = *one.message;
        if (!refused.contains(message.tag)) {
            *one.channel = new LoopbackChannel(message.pml.copy_of(message), _existing, _progress);
        }
        message.complete();
        return 1;
    }

    Progress& _progress;
    ProgressLock _lock;
    std::deque<Pending> _pending;
    std::atomic<int> _free;
    std::atomic<int> _existing{0}, _bound{0};
    std::atomic<int> _fine{0}, _failures{0};
    PollerHandle _poller;
};

} // namespace patchbay::test
