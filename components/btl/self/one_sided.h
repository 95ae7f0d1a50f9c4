// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "frameworks/btl/btl.h"

namespace patchbay::btl::self {

// One-sided operations of a process on its own memory: loads, stores and processor atomics. A place without memory
// raises a signal, as it does for the program. A key: this process, the address, the number of bytes.
class SelfOneSided final : public OneSided {
public:
    explicit SelfOneSided(Progress& progress) noexcept;

    Offers offers() const noexcept override;
    Offers offered(Endpoint& to, const RemoteKey& key) noexcept override;
    Result<RemoteKey> register_memory(void* base, std::uint64_t bytes) noexcept override;
    void deregister_memory(const RemoteKey&) noexcept override {}
    std::byte* map(Endpoint& to, const RemoteKey& key) noexcept override;
    Doorbell* bell(Endpoint&) noexcept override { return &_progress.doorbell(); }
    Started put(Endpoint& to, std::span<const iovec> local, const RemoteKey& key, std::span<const RemotePiece> remote,
        Wake wake, Completion* completion) noexcept override;
    Started get(Endpoint& from, std::span<const iovec> local, const RemoteKey& key, std::span<const RemotePiece> remote,
        Completion* completion) noexcept override;
    Started fetch_op(Endpoint& to, Atomic op, Width width, const RemoteKey& key, std::uint64_t offset,
        std::uint64_t operand, void* fetched, Wake wake, Completion* completion) noexcept override;
    Started compare_swap(Endpoint& to, Width width, const RemoteKey& key, std::uint64_t offset, std::uint64_t compare,
        std::uint64_t desired, void* fetched, Wake wake, Completion* completion) noexcept override;
    Started flush(Endpoint& to, Completion* completion) noexcept override;

private:
    void notify(Wake wake) noexcept {
        if (wake == Wake::target) {
            _progress.doorbell().notify(); // other threads of this process may sleep
        }
    }

    bool is_own(const RemoteKey& key) const noexcept { return key.words[0] == _owner; }
    int check(std::span<const iovec> local, const RemoteKey& key, std::span<const RemotePiece> remote) const noexcept;
    int check(const RemoteKey& key, std::uint64_t offset, Width width) const noexcept;

    Progress& _progress;
    const std::uint64_t _owner;
};

} // namespace patchbay::btl::self
