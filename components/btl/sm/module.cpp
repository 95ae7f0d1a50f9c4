// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/sm/module.h"

#include "core/base/out_of_memory.h"
#include "core/base/round_up.h"
#include "core/log.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <new>
#include <sys/stat.h>
#include <utility>

namespace patchbay::btl::sm {

namespace {

// Packets taken from one sender before the next one is looked at.
constexpr int packets_per_turn = 32;

// Of each message to a communicator that has been used before (pml/ob1).
constexpr std::size_t usual_header = 16;

// With more processes on a core than these, a sender that waits for room in a ring waits for too many others.
constexpr std::uint32_t most_that_share_a_core = 4;

// A pid means something only inside its pid namespace. 0: not known.
std::uint64_t pid_namespace() noexcept {
    struct stat space {};
    return stat("/proc/self/ns/pid", &space) == 0 ? std::uint64_t(space.st_ino) : 0;
}

[[gnu::noinline]] SendCode ring(SmEndpoint& to) noexcept {
    to.control.bell.ring();
    return SendCode::ok;
}

// Doorbell::notify() after a packet was published. It makes no call that returns, so that send() needs no stack.
inline SendCode notified(SmEndpoint& to) noexcept {
    return to.control.bell.must_be_rung() ? ring(to) : SendCode::ok;
}

} // namespace

Result<std::unique_ptr<SmModule>> SmModule::create(
    NodeSegment& node, JobTable& jobs, const Settings& settings, DecisionLog& decisions) {
    std::unique_ptr<SmModule> module(new SmModule(node, jobs, settings, decisions));
    if (Status opened = module->open_own_port(); !opened) {
        return opened.error();
    }
    if (settings.single_copy != SingleCopy::none) {
        module->_probe = std::make_unique<OwnProbe>(module->_port->token);
    }
    module->_one_sided.emplace(node, *module->_port, settings, decisions);
    if (module->_limits.get_is_timed) {
        decisions.record("btl", "single copy on this node", "sm cma", Outcome::chosen, 0,
            "each process has a core of its own: receivers time both ways, and take what is faster");
    } else if (settings.single_copy == SingleCopy::automatic && module->copies_are_faster()) {
        decisions.record("btl", "single copy on this node", "sm cma", Outcome::declined, 0,
            "few processes share a core, and each pair has rings in shared memory");
    }
    if (Status adopted = module->adopt_inbound(); !adopted) {
        return adopted.error();
    }
    return module;
}

SmModule::SmModule(NodeSegment& node, JobTable& jobs, const Settings& settings, DecisionLog& decisions)
    : _node(node),
      _heap(node.heap()),
      _jobs(jobs),
      _local_size(jobs.job(own_job)->local_ranks.size()),
      _settings(settings),
      _decisions(decisions) {
    _limits.header = Slot::room;
    _limits.eager = settings.eager_limit;
    _limits.packet = settings.packet();
    _limits.inline_size = Slot::room;
    const bool is_automatic = settings.single_copy == SingleCopy::automatic;
    const bool offers_get = settings.single_copy == SingleCopy::cma || (is_automatic && !copies_are_faster());
    _limits.get_from = offers_get ? std::max<std::size_t>(settings.get_limit, 1) : 0;
    _limits.get_is_timed = is_automatic && settings.processes_per_core == 1;
    _limits.latency_ns = 130;
    _limits.bandwidth_mbps = 20000;
    _inbound.reserve(Port::most_rings);
}

// Where processes share cores. A single copy reads lines that are in the cache of the sender's core, at 200 ns per KiB
// where the cores share no near cache, and leaves them in that of the receiver's, from where the sender has to take
// them back when it writes there again. Copies through a ring do neither (payload_copy.h).
bool SmModule::copies_are_faster() const noexcept {
    return _settings.processes_per_core > 1 && _settings.processes_per_core <= most_that_share_a_core &&
        all_have_rings();
}

Status SmModule::open_own_port() {
    Result<Port*> port = port_of(_node.slot());
    if (!port) {
        return port.error();
    }
    _port = *port;
    _port->pid_space.store(pid_namespace(), std::memory_order_relaxed);
    _cells.emplace(
        _node, *_port, _settings.queue_size,
        [](void* self, const Cell& cell) noexcept { static_cast<SmModule*>(self)->on_returned(cell); }, this);
    if (!_cells->reserve()) {
        return Error{Errc::out_of_memory, "no shared memory for the cells of packets"};
    }
    // What an earlier generation has not delivered, or has wanted.
    _wants_cells = _port->wants_cells.load(std::memory_order_relaxed) != 0;
    _attention = _port->pending != 0 || _port->unordered != 0 || _wants_cells;
    return {};
}

// The rings through which peers sent to an earlier library generation of this process.
Status SmModule::adopt_inbound() {
    for (const Port::Ring& ring : _port->in) {
        if (ring.address == 0) {
            continue;
        }
        Result<SmEndpoint*> from = find_endpoint(ring.peer);
        if (!from) {
            return from.error();
        }
        Result<std::byte*> memory = _heap.map_block(ring.address);
        if (!memory) {
            return memory.error();
        }
        _inbound.push_back(
            {RingReceiver({*memory, _settings.shape}, _settings.shape, (*from)->control.bell), *from, ring.address});
    }
    return {};
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
    for (const JobNumber job : _held_jobs) {
        _jobs.end_hold(job);
    }
}

bool SmModule::reaches(ProcessId process) const noexcept {
    if (process.job == own_job ? process.rank == _node.self().rank : !_node.is_for_all_jobs()) {
        return false;
    }
    const std::shared_ptr<const Job> job = _jobs.job(process.job);
    return job != nullptr && std::ranges::binary_search(job->local_ranks, process.rank);
}

// Other jobs have other numbers in each process, so that a slot has the nonce.
SlotKey SmModule::key_of(ProcessId process) const {
    return {process.job == own_job ? _node.self().job : _jobs.nonce_of(process.job), process.rank};
}

// The job may be one that this process does not know yet.
Result<ProcessId> SmModule::process_of(const SlotKey& key) {
    if (key.job == _node.self().job) {
        return ProcessId{own_job, key.rank};
    }
    _held_jobs.reserve(_held_jobs.size() + 1);
    Result<JobNumber> job = _jobs.hold(key.job);
    if (!job) {
        return job.error();
    }
    if (std::ranges::find(_held_jobs, *job) == _held_jobs.end()) {
        _held_jobs.push_back(*job);
    } else {
        _jobs.end_hold(*job); // one is enough
    }
    return ProcessId{*job, key.rank};
}

// A port that is full of zeros is valid, so that the first process that needs it makes it.
Result<Port*> SmModule::port_of(std::uint32_t slot) {
    auto region = _node.region("btl_sm", sizeof(Port), _settings.layout_text(), slot);
    if (!region) {
        return region.error();
    }
    if (Status taken = _node.commit(*region, 0, sizeof(Port)); !taken) {
        return taken.error();
    }
    return reinterpret_cast<Port*>(region->bytes.data());
}

Result<SmEndpoint*> SmModule::find_endpoint(std::uint32_t slot) {
    if (slot < _endpoints.size() && _endpoints[slot] != nullptr) [[likely]] {
        return _endpoints[slot].get();
    }
    RankControl* control = _node.find_control(slot);
    if (control == nullptr) {
        return Error{
            Errc::out_of_memory, "the peer's slot cannot be mapped; raise the address space limit (ulimit -v)"};
    }
    Result<Port*> port = port_of(slot);
    if (!port) {
        return port.error();
    }
    Result<ProcessId> process = process_of(control->key);
    if (!process) {
        return process.error();
    }
    _port->set_contact(slot);
    if (slot >= _endpoints.size()) {
        _endpoints.resize(std::max<std::size_t>(slot + 1, _node.slots()));
    }
    auto endpoint = std::make_unique<SmEndpoint>(*process, slot, *control, **port, _settings.stores);
    for (const Port::Ring& ring : _port->out) { // of an earlier library generation of this process
        if (ring.address != 0 && ring.peer == slot) {
            Result<std::byte*> memory = _heap.map_block(ring.address);
            if (!memory) {
                return memory.error();
            }
            use_ring(*endpoint, ring.address, *memory);
        }
    }
    _endpoints[slot] = std::move(endpoint);
    return _endpoints[slot].get();
}

Endpoint* SmModule::connect(ProcessId process) noexcept {
    return unless_out_of_memory(static_cast<Endpoint*>(nullptr), [&] { return connect_to(process); });
}

// A slot of a process that has ended may be released between the two steps: NodeSegment::release_if().
Result<SmEndpoint*> SmModule::endpoint_of(const SlotKey& key) {
    for (;;) {
        Result<std::uint32_t> slot = _node.slot_of(key);
        if (!slot) {
            return slot.error();
        }
        const bool is_new = *slot >= _endpoints.size() || _endpoints[*slot] == nullptr;
        Result<SmEndpoint*> peer = find_endpoint(*slot);
        if (!peer || !is_new) {
            return peer;
        }
        const RankControl& control = (*peer)->control;
        if (control.allotted.load(std::memory_order_seq_cst) != 0 && control.key == key) [[likely]] {
            return peer;
        }
        _endpoints[*slot].reset();
        _port->clear_contact(*slot);
    }
}

Endpoint* SmModule::connect_to(ProcessId process) {
    Result<SmEndpoint*> peer = endpoint_of(key_of(process));
    Status ready = peer ? Status() : Status(peer.error());
    if (ready && process.job == own_job && all_have_rings() && !(*peer)->out.is_open()) {
        ready = open_ring(**peer);
        if (!ready && (ready.error().code == Errc::not_available || ready.error().code == Errc::out_of_memory)) {
            ready = {}; // failed processes, or processes of other jobs, have taken the rings, or there is no memory for
                        // one; the queue remains
        }
    }
    if (!ready) {
        _no_memory.error(
            fmt::format("btl/sm: no shared memory for messages to rank {}: {}", process.rank, ready.error().text));
        return nullptr;
    }
    return *peer;
}

// Its pid may soon be that of another process.
void SmModule::peer_failed(ProcessId process) noexcept {
    for (const auto& endpoint : _endpoints) {
        if (endpoint != nullptr && endpoint->process == process) {
            endpoint->failed.store(true, std::memory_order_relaxed);
        }
    }
}

SendCode SmModule::send(
    Endpoint& to, const void* header, std::size_t header_size, const void* payload, std::size_t payload_size) noexcept {
    auto& peer = static_cast<SmEndpoint&>(to);
    if (header_size != usual_header || peer.out.looks_full()) [[unlikely]] {
        return send_otherwise(peer, header, header_size, payload, payload_size);
    }
    // The size of one number is tested first, which saves push_inline() its own test.
    if (payload_size - 8 < 8) [[likely]] {
        peer.out.push_inline(header, usual_header, payload, payload_size);
    } else if (payload_size <= Slot::room - usual_header) {
        peer.out.push_inline(header, usual_header, payload, payload_size);
    } else {
        return send_otherwise(peer, header, header_size, payload, payload_size);
    }
    return notified(peer);
}

SendCode SmModule::send_otherwise(SmEndpoint& to, const void* header, std::size_t header_size, const void* payload,
    std::size_t payload_size) noexcept {
    if (!to.out.is_open()) {
        return send_queued(to, header, header_size, payload, payload_size);
    }
    if (header_size + payload_size > Slot::room) {
        return send_bulk(to, header, header_size, payload, payload_size);
    }
    if (to.out.is_full()) {
        return SendCode::full;
    }
    to.out.push_inline(header, header_size, payload, payload_size);
    return notified(to);
}

SendCode SmModule::send_bulk(SmEndpoint& to, const void* header, std::size_t header_size, const void* payload,
    std::size_t payload_size) noexcept {
    SendCode code;
    std::byte* room = reserve_bulk(to, payload_size, &code);
    if (room == nullptr) {
        return code;
    }
    to.payload_copy.copy(room, static_cast<const std::byte*>(payload), payload_size);
    to.out.push_bulk(header, header_size, payload_size);
    to.control.bell.notify();
    return SendCode::ok;
}

// `room`, with memory behind it, or other room. The first use of a page costs each of the two processes 0.5 to 15 us: a
// short message would be three times as slow in the first lap of the ring. A longer one is faster where the ring is
// larger, because the receiver's cache then has no lines of the last lap.
std::byte* SmModule::with_memory(SmEndpoint& to, std::byte* room, std::size_t size) noexcept {
    if (size <= RingShape::short_payload && size <= to.bulk_committed) {
        if (std::byte* start = to.out.reserve_at_start(size)) {
            return start;
        }
    }
    return commit_bulk(to, to.out.offset_in_bulk(room) + size) ? room : nullptr;
}

// As far as it is needed: a ring costs some 50 us, and the first longer message to each of many peers pays for it.
bool SmModule::commit_bulk(SmEndpoint& to, std::size_t end) noexcept {
    const std::size_t offset = _settings.shape.head_bytes() + to.bulk_committed;
    const std::size_t committed = std::min(_settings.shape.bulk_size, round_up(end, RingShape::bulk_step));
    const std::size_t more = committed - to.bulk_committed;
    Status status = _heap.commit(to.ring, offset, more);
    if (!status) {
        return unless_out_of_memory(false, [&] {
            _no_memory.error(fmt::format("btl/sm: no shared memory for messages of more than {} bytes to rank {}: {}",
                Slot::room, to.process.rank, status.error().text));
            return false;
        });
    }
    populate({to.out.bulk() + to.bulk_committed, more}, Access::write);
    to.bulk_committed = committed;
    return true;
}

Module::Reservation SmModule::reserve(Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept {
    auto& peer = static_cast<SmEndpoint&>(to);
    if (!peer.out.is_open()) [[unlikely]] {
        return reserve_queued(peer, header_size, payload_size);
    }
    const bool in_bulk = header_size + payload_size > Slot::room;
    const std::size_t size = std::min(payload_size, _limits.packet);
    SendCode code = SendCode::full;
    std::byte* room = in_bulk ? reserve_bulk(peer, size, &code) : peer.out.reserve_inline(header_size);
    if (room == nullptr) {
        return {code, {}};
    }
    peer.reserved_in_ring = in_bulk ? SmEndpoint::Reserved::bulk : SmEndpoint::Reserved::slot;
    return {SendCode::ok, {in_bulk ? place_to_pack(peer, room, size) : room, size}};
}

std::byte* SmModule::place_to_pack(SmEndpoint& to, std::byte* room, std::size_t size) noexcept {
    if (to.payload_copy.any_way_will_do(size) || _stage_taken) [[likely]] {
        to.payload_copy.skip(size);
        return room;
    }
    if (_stage == nullptr) {
        _stage.reset(new (std::nothrow) std::byte[_limits.packet]);
        if (_stage == nullptr) {
            return room;
        }
    }
    _stage_taken = true;
    to.staged_for = room;
    return _stage.get();
}

SendCode SmModule::commit(
    Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept {
    auto& peer = static_cast<SmEndpoint&>(to);
    if (peer.staged_for != nullptr) {
        copy_from_stage(peer, payload_size);
    }
    if (peer.reserved.cell != nullptr) [[unlikely]] {
        commit_queued(peer, header, header_size, payload_size);
        return SendCode::ok;
    }
    if (std::exchange(peer.reserved_in_ring, SmEndpoint::Reserved::nothing) == SmEndpoint::Reserved::bulk) {
        peer.out.push_bulk(header, header_size, payload_size);
    } else {
        peer.out.push_reserved(header, header_size, payload_size);
    }
    peer.control.bell.notify();
    return SendCode::ok;
}

// Part of poll(): a call of its own would save its registers between the arrival of a packet and its delivery.
[[gnu::always_inline]] inline int SmModule::deliver(Inbound& inbound) noexcept {
    Packet packet;
    int delivered = 0;
    while (delivered < packets_per_turn && inbound.ring.look(packet)) {
        ++delivered;
        if (!_receiver(_context, *inbound.from, packet.header, packet.header_size, packet.payload, packet.payload_size))
            [[unlikely]] {
            inbound.ring.put_back(packet);
            break;
        }
        inbound.ring.done();
    }
    return delivered;
}

int SmModule::poll() noexcept {
    int delivered = 0;
    if (!_port->arrived.empty() || _attention) [[unlikely]] {
        delivered = poll_slowly();
    }
    // Receivers may send, not poll: the vector does not change under the loop.
    for (Inbound& inbound : _inbound) {
        delivered += deliver(inbound);
    }
    return delivered;
}

} // namespace patchbay::btl::sm
