// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/btl/btl.h"

#include <utility>

namespace [[gnu::visibility("default")]] patchbay {
namespace btl {

// A module that stands before another one and passes every call on (Component::wrap). An interposer derives from it and
// overrides what it observes or changes; the rules of Module hold between both of them, too.
class Forward : public Module {
public:
    explicit Forward(std::unique_ptr<Module> wrapped) noexcept
        : _wrapped(std::move(wrapped)) {}

    const char* name() const noexcept override { return _wrapped->name(); }
    const Limits& limits() const noexcept override { return _wrapped->limits(); }
    void set_receiver(Receiver receiver, void* context) noexcept override { _wrapped->set_receiver(receiver, context); }
    bool reaches(ProcessId process) const noexcept override { return _wrapped->reaches(process); }
    Status open() noexcept override { return _wrapped->open(); }
    Endpoint* connect(ProcessId process) noexcept override { return _wrapped->connect(process); }
    SendCode send(Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept override {
        return _wrapped->send(to, header, header_size, payload, payload_size);
    }
    Reservation reserve(Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept override {
        return _wrapped->reserve(to, header_size, payload_size);
    }
    SendCode commit(
        Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept override {
        return _wrapped->commit(to, header, header_size, payload_size);
    }
    std::ptrdiff_t get(Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept override {
        return _wrapped->get(from, remote, local);
    }
    std::ptrdiff_t put(Endpoint& to, std::uint64_t remote, std::span<const std::byte> local) noexcept override {
        return _wrapped->put(to, remote, local);
    }
    void resume_packets(Endpoint& to) noexcept override { _wrapped->resume_packets(to); }
    bool can_get(Endpoint& from) noexcept override { return _wrapped->can_get(from); }
    void peer_failed(ProcessId process) noexcept override { _wrapped->peer_failed(process); }
    bool may_answer(Endpoint& peer) noexcept override { return _wrapped->may_answer(peer); }
    bool has_ended(JobNumber job) noexcept override { return _wrapped->has_ended(job); }
    void forget(JobNumber job) noexcept override { _wrapped->forget(job); }
    // One that changes them returns an object of its own, which passes on what it does not change.
    OneSided* one_sided() noexcept override { return _wrapped->one_sided(); }
    int poll() noexcept override { return _wrapped->poll(); }

protected:
    Module& wrapped() const noexcept { return *_wrapped; }

private:
    std::unique_ptr<Module> _wrapped;
};

} // namespace btl
} // namespace patchbay
