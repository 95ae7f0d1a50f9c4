// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/self/one_sided.h"

#include <cstddef>
#include <memory>

namespace patchbay::btl::self {

// The process's way to itself: packets wait in a queue until the next poll, large messages are copied once from buffer
// to buffer. Packets cannot be delivered inside send(), because only poll() may call the user back.
class SelfModule final : public Module {
public:
    SelfModule(ProcessId self, Progress& progress, std::size_t eager_limit, std::size_t queue_limit) noexcept;
    ~SelfModule() override;

    const char* name() const noexcept override { return "self"; }
    const Limits& limits() const noexcept override { return _limits; }
    void set_receiver(Receiver receiver, void* context) noexcept override {
        _receiver = receiver;
        _context = context;
    }
    bool reaches(ProcessId process) const noexcept override { return process == _endpoint.process; }
    Endpoint* connect(ProcessId process) noexcept override;
    SendCode send(Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept override;
    Reservation reserve(Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept override;
    SendCode commit(
        Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept override;
    std::ptrdiff_t get(Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept override;
    bool can_get(Endpoint&) noexcept override { return true; }
    OneSided* one_sided() noexcept override { return &_one_sided; }
    bool has_ended(JobNumber) noexcept override { return true; } // it has no endpoint to a process of another job
    int poll() noexcept override;

private:
    struct Packet;
    class SelfEndpoint final : public Endpoint {
    public:
        explicit SelfEndpoint(ProcessId process) noexcept
            : Endpoint(process) {}
    };
    static constexpr std::size_t pooled_room = 256; // packets up to this size are recycled

    Packet* make_packet(std::size_t room) noexcept;
    void free_packet(Packet* packet) noexcept;
    void enqueue(Packet* packet) noexcept;
    bool deliver(Packet* packet) noexcept;
    bool deliver_header(Packet* packet) noexcept;
    void put_back(Packet* packet) noexcept;

    SelfEndpoint _endpoint;
    Progress& _progress;
    SelfOneSided _one_sided;
    Limits _limits;
    std::size_t _queue_limit; // bytes that may wait
    std::size_t _queued = 0;
    Receiver _receiver = nullptr;
    void* _context = nullptr;
    Packet* _first = nullptr;
    Packet* _last = nullptr;
    Packet* _free = nullptr;
    Packet* _reserved = nullptr;
};

} // namespace patchbay::btl::self
