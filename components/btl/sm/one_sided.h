// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/sm/endpoint.h"
#include "components/btl/sm/settings.h"
#include "components/common/mapped_memory.h"
#include "core/explain.h"

namespace patchbay::btl::sm {

// One-sided operations between the processes of a node: memory of the node segment is mapped, all other memory is read
// and written by CMA. Each operation is complete when its call returns, so that nothing is counted or waited for.
class SmOneSided final : public OneSided {
public:
    // `own` is the port of this process.
    SmOneSided(NodeSegment& node, Port& own, const Settings& settings, DecisionLog& decisions) noexcept;
    ~SmOneSided();
    SmOneSided(const SmOneSided&) = delete;
    SmOneSided& operator=(const SmOneSided&) = delete;

    Offers offers() const noexcept override;
    Offers offered(Endpoint& to, const RemoteKey& key) noexcept override;
    Result<RemoteKey> register_memory(void* base, std::uint64_t bytes) noexcept override;
    void deregister_memory(const RemoteKey&) noexcept override {}
    std::byte* map(Endpoint& to, const RemoteKey& key) noexcept override;
    Doorbell* bell(Endpoint& to) noexcept override { return &static_cast<SmEndpoint&>(to).control.bell; }
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
    // Where the memory of a key can be reached; neither: not at all, for `error`.
    struct Reached {
        std::byte* mapped = nullptr;
        bool by_cma = false;
        int error = 0;
    };
    Reached reach(SmEndpoint& to, const RemoteKey& key) noexcept;
    int find_access(SmEndpoint& to) noexcept;
    int owner_error(const SmEndpoint& to, const RemoteKey& key) const noexcept;
    void explain_refusal(const SmEndpoint& to, int error) noexcept;
    Started copy(common::Direction direction, SmEndpoint& peer, std::span<const iovec> local, const RemoteKey& key,
        std::span<const RemotePiece> remote) noexcept;
    // The place of an atomic; nullptr: *error says why.
    std::byte* atomic_place(
        SmEndpoint& to, const RemoteKey& key, std::uint64_t offset, Width width, int* error) noexcept;

    SharedHeap& _heap;
    Port& _own;
    DecisionLog& _decisions;
    const bool _uses_cma;
    std::uint64_t _owner; // the first word of all keys of this process
};

} // namespace patchbay::btl::sm
