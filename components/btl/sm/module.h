// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/sm/cells.h"
#include "components/btl/sm/copy_cost.h"
#include "components/btl/sm/endpoint.h"
#include "components/btl/sm/one_sided.h"
#include "components/btl/sm/ring.h"
#include "components/btl/sm/settings.h"
#include "components/btl/sm/single_copy.h"
#include "core/explain.h"
#include "core/log.h"
#include "core/memory/node_segment.h"
#include "core/runtime/job_table.h"
#include "frameworks/btl/btl.h"

#include <bitset>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace patchbay::btl::sm {

// Shared memory between the processes of a node. Packets go through the receive queue of their receiver, whose cells
// the senders allocate in their own memory; or through a ring of one-line slots between two processes, which is faster
// and takes more memory. Where a process has few peers, each pair has rings; otherwise those pairs that send most.
class SmModule final : public Module {
public:
    // `jobs` says which processes of a job are on this node. Errors are those of the node segment.
    static Result<std::unique_ptr<SmModule>> create(
        NodeSegment& node, JobTable& jobs, const Settings& settings, DecisionLog& decisions);
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
    std::ptrdiff_t put(Endpoint& to, std::uint64_t remote, std::span<const std::byte> local) noexcept override;
    void resume_packets(Endpoint& to) noexcept override;
    bool can_get(Endpoint& from) noexcept override;
    OneSided* one_sided() noexcept override { return &*_one_sided; }
    void peer_failed(ProcessId process) noexcept override;
    bool may_answer(Endpoint& peer) noexcept override;
    bool has_ended(JobNumber job) noexcept override;
    void forget(JobNumber job) noexcept override;
    int poll() noexcept override;

    // For tests: how many places a poll looks at, and the rings that this process sends through.
    std::size_t polled_places() const noexcept { return 1 + _inbound.size(); }
    std::size_t outbound_rings() const noexcept;

private:
    struct Inbound {
        RingReceiver ring;
        SmEndpoint* from;
        SharedAddress address;
    };

    SmModule(NodeSegment& node, JobTable& jobs, const Settings& settings, DecisionLog& decisions);
    Status open_own_port();
    Status adopt_inbound();
    Result<Port*> port_of(std::uint32_t slot);
    SlotKey key_of(ProcessId process) const;
    Result<ProcessId> process_of(const SlotKey& key);
    Result<SmEndpoint*> find_endpoint(std::uint32_t slot);
    Result<SmEndpoint*> endpoint_of(const SlotKey& key);
    Endpoint* connect_to(ProcessId process);

    // module.cpp: rings.
    // What send() has no fast path for.
    SendCode send_otherwise(SmEndpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept;
    SendCode send_bulk(SmEndpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept;
    // Room for a payload in the bulk ring, with memory behind it; nullptr: there is none, for the reason *code.
    std::byte* reserve_bulk(SmEndpoint& to, std::size_t size, SendCode* code) noexcept {
        *code = SendCode::full;
        std::byte* room = to.out.reserve_bulk(size);
        if (room != nullptr && to.out.offset_in_bulk(room) + size > to.bulk_committed) [[unlikely]] {
            *code = SendCode::no_memory;
            room = with_memory(to, room, size);
        }
        return room;
    }
    std::byte* with_memory(SmEndpoint& to, std::byte* room, std::size_t size) noexcept;
    bool commit_bulk(SmEndpoint& to, std::size_t end) noexcept;
    // Where the caller of reserve() writes a payload for `room`: the stage, if it is to be copied from there.
    std::byte* place_to_pack(SmEndpoint& to, std::byte* room, std::size_t size) noexcept;
    void copy_from_stage(SmEndpoint& to, std::size_t size) noexcept {
        to.payload_copy.copy(std::exchange(to.staged_for, nullptr), _stage.get(), size);
        _stage_taken = false;
    }
    int deliver(Inbound& inbound) noexcept;

    // queue.cpp: receive queues.
    SendCode send_queued(SmEndpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept;
    Reservation reserve_queued(SmEndpoint& to, std::size_t header_size, std::size_t payload_size) noexcept;
    void commit_queued(SmEndpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept;
    SendCode take_cell(SmEndpoint& to, std::size_t in_block, Cells::Taken& taken) noexcept;
    Cells::Taken try_to_take(SmEndpoint& to, std::size_t in_block) noexcept;
    void push(SmEndpoint& to, const Cells::Taken& taken) noexcept;
    void on_returned(const Cell& cell) noexcept;
    int poll_slowly() noexcept;
    int deliver_queue() noexcept;
    SharedAddress next_cells() noexcept;
    Cell* cell_at(SharedAddress address) noexcept {
        auto* cell = reinterpret_cast<Cell*>(_heap.at(address));
        return cell != nullptr ? cell : cannot_map(address);
    }
    Cell* cannot_map(SharedAddress address) noexcept;
    SmEndpoint* sender_of(const Cell& cell) noexcept {
        SmEndpoint* known = cell.from < _endpoints.size() ? _endpoints[cell.from].get() : nullptr;
        return known != nullptr ? known : first_contact(cell);
    }
    SmEndpoint* first_contact(const Cell& cell) noexcept;
    bool deliver_cell(Cell& cell, SharedAddress address) noexcept;
    void report_unmapped(const Error& error) noexcept;

    // Whether btl_sm_single_copy=auto copies large messages through shared memory, whatever a system call costs here.
    bool copies_are_faster() const noexcept;

    // ring_choice.cpp: which pairs have rings.
    bool all_have_rings() const noexcept { return _local_size <= _settings.rings + 1; }
    Status open_ring(SmEndpoint& to);
    Status make_ring(SmEndpoint& to, Port::Ring& entry);
    void count_towards_ring(SmEndpoint& to) noexcept;
    void end_window() noexcept;
    void look_at_ring(SmEndpoint& to) noexcept;
    void begin_close(SmEndpoint& to) noexcept;
    void finish_close(SmEndpoint& to) noexcept;
    bool accept_ring(SmEndpoint& from, SharedAddress address) noexcept;
    void drop_ring(SmEndpoint& from) noexcept;
    void use_ring(SmEndpoint& to, SharedAddress address, std::byte* memory) noexcept;
    Port::Ring* outbound_entry(SharedAddress address) noexcept;

    // ended_processes.cpp
    struct Place {
        std::uint32_t slot;
        RankControl* control;
        Port* port;
        SlotKey key;
        bool is_free; // may be released
    };
    bool has_ended(const RankControl& control, const Port& port) const noexcept;
    bool is_over(const SmEndpoint& peer) const noexcept;
    bool queue_is_empty() const noexcept {
        return _port->arrived.empty() && _port->unordered == 0 && _port->ordered == 0 && _port->pending == 0;
    }
    void leave(std::uint32_t slot, Port& port);
    void collect_cells(Port& port) noexcept;
    void release_slots();
    std::vector<Place> places();
    void leave_strangers(const std::vector<Place>& all);

    // module_get.cpp: single copy.
    void choose_by_cost(SmEndpoint& peer) noexcept;
    void explain_refusal(const SmEndpoint& peer, int error) noexcept;

    NodeSegment& _node;
    SharedHeap& _heap;
    JobTable& _jobs;
    std::vector<JobNumber> _held_jobs; // other jobs with an endpoint here: their numbers stay the same
    const std::size_t _local_size;     // processes of the own job on this node
    const Settings _settings;
    DecisionLog& _decisions;
    Limits _limits;
    Receiver _receiver = nullptr;
    void* _context = nullptr;
    Port* _port = nullptr;     // this process's own
    bool _attention = false;   // poll() has more to do than to look for packets
    bool _starving = false;    // a packet was refused since the last poll because all memory is in receivers' hands
    bool _refused = false;     // a packet was refused since the last poll
    bool _wants_cells = false; // what `wants_cells` of the port is
    bool _wants_ring = false;  // an active pair has none, because all are in use
    bool _stuck = false;       // a cell could not be mapped in this poll
    unsigned _patience = 0;    // polls in a row before which `_starving` was set
    std::uint32_t _window = 0; // packets through receive queues since the last look at who sends how much
    std::vector<Inbound> _inbound;
    std::vector<std::unique_ptr<SmEndpoint>> _endpoints; // by slot, null before the first contact
    std::optional<Cells> _cells;
    std::unique_ptr<OwnProbe> _probe;
    std::optional<SmOneSided> _one_sided;
    std::unique_ptr<std::byte[]> _stage; // for one packet, made when it is first needed
    bool _stage_taken = false;
    std::bitset<NodeSegment::most_slots> _held; // senders with a packet that the receiver had no memory for
    LogOnce _no_memory;                         // senders try again and again
    LogOnce _unmapped;
    bool _cost_known = false; // single copy was timed; all peers are on this node, so one of them is enough
};

} // namespace patchbay::btl::sm
