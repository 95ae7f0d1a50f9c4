// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/sm/copy_cost.h"
#include "components/btl/sm/ring.h"
#include "components/btl/sm/settings.h"
#include "components/btl/sm/single_copy.h"
#include "core/explain.h"
#include "core/log.h"
#include "core/memory/node_segment.h"
#include "frameworks/btl/btl.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace patchbay::btl::sm {

// A peer of this node. It exists from the first packet in either direction; the ring towards it is opened by
// connect().
class SmEndpoint final : public Endpoint {
public:
    SmEndpoint(ProcessId process, std::uint32_t local_rank, RankControl& control) noexcept
        : Endpoint(process),
          control(control),
          local_rank(local_rank) {}

    RingSender out;
    RankControl& control;
    const std::uint32_t local_rank;
    std::size_t bulk_committed = 0; // bytes of the bulk ring, from its start, that memory has been taken for
    bool reserved_in_bulk = false;
    std::optional<bool> readable; // result of the probe, once made
};

// Shared memory between the processes of a node: a ring of one-line slots per pair and direction at a computed place of
// the node segment, so that there is no handshake, and a bit per sender that makes the receiver poll its ring.
class SmModule final : public Module {
public:
    // `ranks`: the job ranks of the local processes, by local rank. Errors are those of the node segment.
    static Result<std::unique_ptr<SmModule>> create(
        NodeSegment& node, std::vector<std::uint32_t> ranks, const Settings& settings, DecisionLog& decisions);
    ~SmModule() override;

    const char* name() const noexcept override { return "sm"; }
    const Limits& limits() const noexcept override { return _limits; }
    void set_receiver(Receiver receiver, void* context) noexcept override {
        _receiver = receiver;
        _context = context;
    }
    bool reaches(ProcessId process) const noexcept override;
    Endpoint* connect(ProcessId process) noexcept override;
    SendCode send(Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept override;
    Reservation reserve(Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept override;
    SendCode commit(
        Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept override;
    std::ptrdiff_t get(Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept override;
    bool can_get(Endpoint& from) noexcept override;
    int poll() noexcept override;

private:
    struct Inbound {
        RingReceiver ring;
        SmEndpoint& from;
    };
    using SenderWord = std::atomic<std::uint64_t>;

    SmModule(NodeSegment& node, std::vector<std::uint32_t> ranks, const Settings& settings, DecisionLog& decisions);
    std::int32_t local_rank_of(ProcessId process) const noexcept;
    std::size_t ring_offset(std::uint32_t from, std::uint32_t to) const noexcept;
    RingMemory ring(std::uint32_t from, std::uint32_t to) const noexcept;
    SenderWord* senders_of(std::uint32_t local_rank) const noexcept;
    ProbeToken& token_of(std::uint32_t local_rank) const noexcept;
    Endpoint* open_ring_to(ProcessId process);
    SmEndpoint& endpoint(std::uint32_t local_rank);
    SendCode send_bulk(SmEndpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept;
    // Is there memory behind `room` in the bulk ring? false: none left, which has been reported.
    bool has_memory(SmEndpoint& to, const std::byte* room, std::size_t size) noexcept {
        const std::size_t end = to.out.offset_in_bulk(room) + size;
        return end <= to.bulk_committed || commit_bulk(to, end);
    }
    bool commit_bulk(SmEndpoint& to, std::size_t end) noexcept;
    int deliver(Inbound& inbound) noexcept;
    // false: out of memory for one of them.
    bool accept_senders(std::size_t word, std::uint64_t senders) noexcept;
    void choose_by_cost(SmEndpoint& peer) noexcept;
    void explain_refusal(const SmEndpoint& peer, int error) noexcept;

    NodeSegment& _node;
    const std::vector<std::uint32_t> _ranks;
    const Settings _settings;
    DecisionLog& _decisions;
    Limits _limits;
    Receiver _receiver = nullptr;
    void* _context = nullptr;
    NodeRegion _region;
    unsigned _first_line = 0;
    SenderWord* _own_senders = nullptr;
    std::vector<std::uint64_t> _known_senders; // as _own_senders was when last looked at
    std::vector<Inbound> _inbound;
    std::vector<std::unique_ptr<SmEndpoint>> _endpoints; // by local rank, null before the first contact
    std::unique_ptr<OwnProbe> _probe;
    LogOnce _no_memory;       // senders try again and again
    bool _cost_known = false; // single copy was timed; all peers are on this node, so one of them is enough
};

} // namespace patchbay::btl::sm
