// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/module.h"

#include "core/base/out_of_memory.h"
#include "core/log.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>

namespace patchbay::btl::sm {

namespace {

constexpr unsigned bits_per_line = 8 * sizeof(ControlLine);

unsigned bitmap_lines(std::size_t local_size) {
    return unsigned((local_size + bits_per_line - 1) / bits_per_line);
}

// Packets taken from one sender before the next one is looked at.
constexpr int packets_per_turn = 32;

} // namespace

Result<std::unique_ptr<SmModule>> SmModule::create(
    NodeSegment& node, std::vector<std::uint32_t> ranks, const Settings& settings, DecisionLog& decisions) {
    std::unique_ptr<SmModule> module(new SmModule(node, std::move(ranks), settings, decisions));
    const std::size_t pairs = module->_ranks.size() * module->_ranks.size();
    auto lines = node.reserve_lines("btl_sm", 1 + bitmap_lines(module->_ranks.size()));
    if (!lines) {
        return lines.error();
    }
    auto region = node.region("btl_sm", pairs * settings.shape.bytes(), settings.layout_text());
    if (!region) {
        return region.error();
    }
    module->_first_line = *lines;
    module->_region = *region;
    module->_own_senders = module->senders_of(node.local_rank());
    if (settings.single_copy != SingleCopy::none) {
        module->_probe = std::make_unique<OwnProbe>(module->token_of(node.local_rank()));
    }
    return module;
}

SmModule::SmModule(
    NodeSegment& node, std::vector<std::uint32_t> ranks, const Settings& settings, DecisionLog& decisions)
    : _node(node),
      _ranks(std::move(ranks)),
      _settings(settings),
      _decisions(decisions) {
    _limits.header = Slot::room;
    _limits.eager = settings.eager_limit;
    _limits.packet = settings.packet();
    _limits.inline_size = Slot::room;
    _limits.get_from = settings.single_copy == SingleCopy::none ? 0 : std::max<std::size_t>(settings.get_limit, 1);
    _limits.latency_ns = 130;
    _limits.bandwidth_mbps = 20000;
    _known_senders.resize((_ranks.size() + 63) / 64);
    _endpoints.resize(_ranks.size());
    _inbound.reserve(_ranks.size());
}

SmModule::~SmModule() {
    // What has arrived in this process's rings after the last poll stays there: peers cannot know when the library goes
    // down, and may have sent to its next generation (bootstrap messages).
    for (Inbound& inbound : _inbound) {
        inbound.ring.save();
    }
    for (const auto& endpoint : _endpoints) {
        if (endpoint != nullptr && endpoint->out.is_open()) {
            endpoint->out.save();
        }
    }
}

bool SmModule::reaches(ProcessId process) const noexcept {
    const std::int32_t local_rank = local_rank_of(process);
    return local_rank >= 0 && std::uint32_t(local_rank) != _node.local_rank();
}

std::int32_t SmModule::local_rank_of(ProcessId process) const noexcept {
    if (process.job != 0) {
        return -1;
    }
    const auto found = std::find(_ranks.begin(), _ranks.end(), process.rank);
    return found == _ranks.end() ? -1 : std::int32_t(found - _ranks.begin());
}

std::size_t SmModule::ring_offset(std::uint32_t from, std::uint32_t to) const noexcept {
    return (std::size_t(from) * _ranks.size() + to) * _settings.shape.bytes();
}

RingMemory SmModule::ring(std::uint32_t from, std::uint32_t to) const noexcept {
    return {_region.bytes.data() + ring_offset(from, to), _settings.shape};
}

ProbeToken& SmModule::token_of(std::uint32_t local_rank) const noexcept {
    return *reinterpret_cast<ProbeToken*>(&_node.control(local_rank).lines[_first_line]);
}

SmModule::SenderWord* SmModule::senders_of(std::uint32_t local_rank) const noexcept {
    return reinterpret_cast<SenderWord*>(&_node.control(local_rank).lines[_first_line + 1]);
}

SmEndpoint& SmModule::endpoint(std::uint32_t local_rank) {
    auto& slot = _endpoints[local_rank];
    if (slot == nullptr) {
        slot = std::make_unique<SmEndpoint>(ProcessId{0, _ranks[local_rank]}, local_rank, _node.control(local_rank));
    }
    return *slot;
}

Endpoint* SmModule::connect(ProcessId process) noexcept {
    return unless_out_of_memory(static_cast<Endpoint*>(nullptr), [&] { return open_ring_to(process); });
}

Endpoint* SmModule::open_ring_to(ProcessId process) {
    SmEndpoint& peer = endpoint(std::uint32_t(local_rank_of(process)));
    if (peer.out.is_open()) {
        return &peer;
    }
    const std::uint32_t self = _node.local_rank();
    Status status = _node.commit(_region, ring_offset(self, peer.local_rank), _settings.shape.head_bytes());
    if (!status) {
        _no_memory.error(fmt::format(
            "btl/sm: no shared memory for messages to local rank {}: {}", peer.local_rank, status.error().text));
        return nullptr;
    }
    peer.out = RingSender(ring(self, peer.local_rank), _settings.shape);
    senders_of(peer.local_rank)[self / 64].fetch_or(std::uint64_t(1) << (self % 64), std::memory_order_release);
    return &peer;
}

SendCode SmModule::send(
    Endpoint& to, const void* header, std::size_t header_size, const void* payload, std::size_t payload_size) noexcept {
    auto& peer = static_cast<SmEndpoint&>(to);
    if (header_size + payload_size > Slot::room) {
        return send_bulk(peer, header, header_size, payload, payload_size);
    }
    if (!peer.out.push_inline(header, header_size, payload, payload_size)) [[unlikely]] {
        return SendCode::full;
    }
    peer.control.bell.notify();
    return SendCode::ok;
}

SendCode SmModule::send_bulk(SmEndpoint& to, const void* header, std::size_t header_size, const void* payload,
    std::size_t payload_size) noexcept {
    std::byte* room = to.out.reserve_bulk(payload_size);
    if (room == nullptr) {
        return SendCode::full;
    }
    if (!has_memory(to, room, payload_size)) [[unlikely]] {
        return SendCode::no_memory;
    }
    std::memcpy(room, payload, payload_size);
    to.out.push_bulk(header, header_size, payload_size);
    to.control.bell.notify();
    return SendCode::ok;
}

// As far as it is needed: a ring costs some 50 us, and the first longer message to each of many peers pays for it.
bool SmModule::commit_bulk(SmEndpoint& to, std::size_t end) noexcept {
    constexpr std::size_t step = 16384;
    const std::size_t offset = ring_offset(_node.local_rank(), to.local_rank) + _settings.shape.head_bytes();
    const std::size_t committed = std::min(_settings.shape.bulk_size, (end + step - 1) / step * step);
    Status status = _node.commit(_region, offset + to.bulk_committed, committed - to.bulk_committed);
    if (!status) {
        return unless_out_of_memory(false, [&] {
            _no_memory.error(
                fmt::format("btl/sm: no shared memory for messages of more than {} bytes to local rank {}: {}",
                    Slot::room, to.local_rank, status.error().text));
            return false;
        });
    }
    to.bulk_committed = committed;
    return true;
}

Module::Reservation SmModule::reserve(Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept {
    auto& peer = static_cast<SmEndpoint&>(to);
    peer.reserved_in_bulk = header_size + payload_size > Slot::room;
    const std::size_t size = std::min(payload_size, _limits.packet);
    std::byte* room = peer.reserved_in_bulk ? peer.out.reserve_bulk(size) : peer.out.reserve_inline(header_size);
    if (room != nullptr && peer.reserved_in_bulk && !has_memory(peer, room, size)) {
        return {SendCode::no_memory, {}};
    }
    return {room == nullptr ? SendCode::full : SendCode::ok, {room, room == nullptr ? 0 : size}};
}

SendCode SmModule::commit(
    Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept {
    auto& peer = static_cast<SmEndpoint&>(to);
    if (peer.reserved_in_bulk) {
        peer.out.push_bulk(header, header_size, payload_size);
    } else {
        peer.out.push_reserved(header, header_size, payload_size);
    }
    peer.control.bell.notify();
    return SendCode::ok;
}

std::ptrdiff_t SmModule::get(Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept {
    auto& peer = static_cast<SmEndpoint&>(from);
    const std::ptrdiff_t got = read_process(peer.control.pid.load(std::memory_order_relaxed), remote, local);
    if (got < 0) {
        peer.readable = false;
        explain_refusal(peer, int(-got));
    }
    return got;
}

bool SmModule::can_get(Endpoint& from) noexcept {
    if (_settings.single_copy == SingleCopy::none) {
        return false;
    }
    auto& peer = static_cast<SmEndpoint&>(from);
    if (!peer.readable.has_value()) {
        const int error = probe_process(peer.control.pid.load(std::memory_order_relaxed), token_of(peer.local_rank));
        peer.readable = error == 0;
        if (error != 0) {
            explain_refusal(peer, error);
        } else if (_settings.single_copy == SingleCopy::automatic && !_cost_known) {
            choose_by_cost(peer);
        }
    }
    return *peer.readable && _limits.get_from != 0;
}

// With `auto`, at the first message that single copy could fetch: from which size on it is the faster way here.
void SmModule::choose_by_cost(SmEndpoint& peer) noexcept {
    const auto cost = CopyCost::measure(peer.control.pid.load(std::memory_order_relaxed), token_of(peer.local_rank));
    if (!cost) {
        return; // this peer is leaving; the next one will do
    }
    _cost_known = true;
    const std::size_t from = cost->break_even();
    _limits.get_from = from == 0 ? 0 : std::max(from, _limits.get_from);
    unless_out_of_memory(false, [&] {
        _decisions.record("btl", "single copy on this node", "sm cma", from == 0 ? Outcome::declined : Outcome::chosen,
            0, cost->text());
        return true;
    });
}

void SmModule::explain_refusal(const SmEndpoint& peer, int error) noexcept {
    unless_out_of_memory(false, [&] {
        const std::string reason = error == EREMCHG
            ? std::string("its pid names another process here (pid namespaces differ): copying through shared memory")
            : fmt::format(
                  "process_vm_readv of its memory failed ({}): copying through shared memory", std::strerror(error));
        const std::string object = fmt::format("single copy from local rank {}", peer.local_rank);
        _decisions.record("btl", object, "sm cma", Outcome::declined, 0, reason);
        if (_settings.single_copy == SingleCopy::cma) {
            log_warn(fmt::format("btl_sm_single_copy=cma was asked for, but {}: {}", object, reason));
        }
        return true;
    });
}

int SmModule::poll() noexcept {
    int delivered = 0;
    for (std::size_t word = 0; word < _known_senders.size(); ++word) {
        const std::uint64_t senders = _own_senders[word].load(std::memory_order_acquire);
        if (senders != _known_senders[word] && !accept_senders(word, senders)) [[unlikely]] {
            ++delivered; // so that the process polls again and does not sleep
        }
    }
    // Receivers may send, not poll: the vector does not change under the loop.
    for (Inbound& inbound : _inbound) {
        delivered += deliver(inbound);
    }
    return delivered;
}

int SmModule::deliver(Inbound& inbound) noexcept {
    Packet packet;
    int delivered = 0;
    while (delivered < packets_per_turn && inbound.ring.look(packet)) {
        ++delivered;
        if (!_receiver(_context, inbound.from, packet.header, packet.header_size, packet.payload, packet.payload_size))
            [[unlikely]] {
            inbound.ring.put_back(packet);
            break;
        }
        if (inbound.ring.done()) {
            inbound.from.control.bell.notify();
        }
    }
    return delivered;
}

bool SmModule::accept_senders(std::size_t word, std::uint64_t senders) noexcept {
    for (std::uint64_t fresh = senders & ~_known_senders[word]; fresh != 0; fresh &= fresh - 1) {
        const auto local_rank = std::uint32_t(word * 64 + std::size_t(std::countr_zero(fresh)));
        const bool accepted = unless_out_of_memory(false, [&] {
            SmEndpoint& from = endpoint(local_rank);
            _inbound.push_back({RingReceiver(ring(local_rank, _node.local_rank()), _settings.shape), from});
            return true;
        });
        if (!accepted) {
            return false; // its messages stay in the ring until a later poll
        }
        _known_senders[word] |= fresh & -fresh;
    }
    return true;
}

} // namespace patchbay::btl::sm
