// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/comm_state.h"
#include "components/pml/ob1/message_store.h"
#include "components/pml/ob1/peer.h"
#include "components/pml/ob1/requests.h"
#include "core/component/component.h"
#include "core/lifetime/lease.h"
#include "core/memory/pool.h"
#include "core/progress/lock.h"
#include "core/progress/progress.h"
#include "frameworks/btl/btl.h"
#include "frameworks/cid/counters.h"
#include "frameworks/cid/directory.h"
#include "frameworks/pml/pml.h"

#include <cstddef>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay {
class Runtime;
}

namespace patchbay::pml::ob1 {

struct Settings {
    std::size_t unexpected_limit = 16 << 20; // bytes taken by one peer's unmatched messages before it is told to stop
    std::size_t fetch_chunk = 4 << 20;       // bytes of one large message fetched before other work gets its turn
};

// Where communicators are found by exCID, and what is counted of that.
struct Names {
    cid::Directory& directory;
    cid::Counters& counters;
};

// Two-sided messages, matched here, over btls. The protocol is described in README.md. One lock protects everything
// below; it is taken only when several threads run.
class Ob1 final : public Module {
public:
    Ob1(Progress& progress, Runtime& runtime, const Names& names, ProcessId self,
        std::vector<std::unique_ptr<btl::Module>> btls, const Settings& settings, Lease btl_lease = {});
    ~Ob1() override;

    int add_comm(Communicator& comm) noexcept override;
    void remove_comm(Communicator& comm) noexcept override;
    int send(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
        Communicator& comm) noexcept override;
    int recv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        MPI_Status* status) noexcept override;
    int isend(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
        Communicator& comm, Request** request) noexcept override;
    int irecv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        Request** request) noexcept override;
    int send_init(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
        Communicator& comm, Request** request) noexcept override;
    int recv_init(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        Request** request) noexcept override;
    int iprobe(int source, int tag, Communicator& comm, bool* found, MPI_Status* status) noexcept override;
    int improbe(
        int source, int tag, Communicator& comm, bool* found, Message** message, MPI_Status* status) noexcept override;
    int probe(int source, int tag, Communicator& comm, MPI_Status* status) noexcept override;
    int mprobe(int source, int tag, Communicator& comm, Message** message, MPI_Status* status) noexcept override;
    int mrecv(
        void* buffer, MPI_Count count, const Datatype& type, Message* message, MPI_Status* status) noexcept override;
    int imrecv(
        void* buffer, MPI_Count count, const Datatype& type, Message* message, Request** request) noexcept override;
    void drain() noexcept override;
    void drain_communicator(const Communicator& comm) noexcept override;
    void drain_session(const Session* session) noexcept override;
    std::vector<EarlyMessage> take_early() noexcept override;
    void accept_early(const EarlyMessage& early) noexcept override;
    int max_tag() const noexcept override;
    std::uint32_t max_index() const noexcept override { return 65535; }

    // For the requests (each takes the lock itself):
    int restart(SendRequest& request) noexcept;
    int restart(RecvRequest& request) noexcept;
    int cancel(SendRequest& request) noexcept;
    int cancel(RecvRequest& request) noexcept;
    void recycle(SendRequest& request) noexcept;
    void recycle(RecvRequest& request) noexcept;
    Progress& progress() noexcept { return _progress; }

private:
    // Holds the lock where several threads run; otherwise one branch.
    class Guard {
    public:
        explicit Guard(Ob1& module) noexcept
            : _lock(module._lock),
              _alone(_lock.acquire()) {}
        ~Guard() { _lock.release(_alone); }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

    private:
        ProgressLock& _lock;
        const bool _alone;
    };

    // module.cpp: communicators, peers, polling. All below is called with the lock held.
    static CommState& state_of(Communicator& comm) noexcept { return static_cast<CommState&>(*comm.pml_data); }
    RankState* connect_rank(CommState& state, int rank) noexcept;
    Peer& peer_of(ProcessId process) noexcept;
    Peer& peer_of(btl::Endpoint& endpoint) noexcept;
    bool connect(Peer& peer) noexcept;
    void need_poll(btl::Module& btl) noexcept;
    int poll() noexcept;
    void reap_abandoned() noexcept;
    void refresh_direct(Peer& peer) noexcept;
    void wake_if_local(const Peer& peer) noexcept;
    void complete(Ob1Request& request) noexcept;
    template <class Condition>
    void wait_with_lock(const Condition& condition) noexcept;
    template <class Which>
    bool is_sending(const Which& which) const noexcept {
        for (SendRequest* send = _sends.first(); send != nullptr; send = decltype(_sends)::next(*send)) {
            if (which(*send)) {
                return true;
            }
        }
        return false;
    }

    // send.cpp
    static bool goes_direct(const RankState* target, std::size_t bytes) noexcept {
        return target != nullptr && target->peer != nullptr && bytes < target->peer->direct_below;
    }
    static btl::SendCode send_direct(
        const RankState& target, int tag, std::uint32_t id, const void* from, std::size_t bytes) noexcept {
        const MatchWords header{target.match_word, MatchWords::make_second(tag, id)};
        return target.peer->btl->send(*target.peer->endpoint, &header, sizeof header, from, bytes);
    }
    // The same while one of both does not know the other's index.
    static bool goes_to_stranger(const RankState* target, std::size_t bytes) noexcept {
        return target != nullptr && target->stranger != nullptr && bytes < target->stranger->direct_below;
    }
    btl::SendCode send_to_stranger(RankState& target, const cid::ExtendedId& name, int tag, std::uint32_t id,
        const void* from, std::size_t bytes) noexcept {
        const Extended<MatchWords> header{{target.match_word, MatchWords::make_second(tag, id)}, name};
        const bool owed = _owed.to == &target;
        Peer& peer = *target.stranger;
        const btl::SendCode code =
            peer.btl->send(*peer.endpoint, &header, owed ? sizeof header.header : sizeof header, from, bytes);
        if (code == btl::SendCode::ok) [[likely]] {
            note_told(target);
            if (!owed && target.named % sends_per_look == 0) [[unlikely]] {
                look_for_answer(peer);
            }
        }
        return code;
    }
    // A message with our index has left for that rank.
    void note_told(RankState& target) noexcept {
        if (_owed.to == &target) {
            settle(target);
            return;
        }
        target.has_our_index = true;
        ++target.named;
        _names.counters.extended_headers.add_locked();
    }
    static constexpr unsigned sends_per_look = 8;
    void look_for_answer(Peer& peer) noexcept;
    template <class Header>
    std::size_t name_communicator(SendRequest& request, Extended<Header>& header) noexcept;
    int send_slowly(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
        Communicator& comm) noexcept;
    void start(SendRequest& request) noexcept;
    btl::SendCode transmit(SendRequest& request) noexcept;
    btl::SendCode transmit_eager(SendRequest& request) noexcept;
    btl::SendCode transmit_eager(SendRequest& request, const void* header, std::size_t header_size) noexcept;
    btl::SendCode transmit_rts(SendRequest& request) noexcept;
    btl::SendCode transmit_fragment(SendRequest& request) noexcept;
    void begin(SendRequest& request) noexcept;
    void end(SendRequest& request) noexcept;
    void finish(SendRequest& request, int code) noexcept;
    std::uint32_t next_id() noexcept { return ++_ids == 0 ? ++_ids : _ids; }

    // backlog.cpp: what did not fit on the wire
    bool queue_message(SendRequest& request) noexcept;
    // `session`: as in Waiting.
    void send_control(Peer& peer, const void* header, std::size_t header_size, const Session* session) noexcept;
    void send_control(
        Peer& peer, PacketType type, std::uint64_t request, std::uint32_t code, const Session* session) noexcept;
    void join_backlog(Peer& peer) noexcept;
    int push_backlog() noexcept;
    int push(Peer& peer) noexcept;
    bool push_waiting(Peer& peer, int& pushed) noexcept;
    bool push_streams(Peer& peer, int& pushed) noexcept;
    bool withdraw_waiting(SendRequest& request) noexcept;
    bool owes_packets(const Session* session) const noexcept;

    // recv.cpp
    void start(RecvRequest& request) noexcept;
    void accept(RecvRequest& request, Unexpected& message) noexcept;
    void deliver(RecvRequest& request, const MatchHeader& match, const std::byte* payload, std::size_t size) noexcept;
    void begin_rendezvous(RecvRequest& request, Peer& from, const MatchHeader& match, std::uint64_t sender,
        std::uint64_t length, std::uint64_t address) noexcept;
    void fetch(RecvRequest& request) noexcept;
    bool fetch_some(RecvRequest& request) noexcept;
    int continue_fetches() noexcept;
    void ask_for_stream(RecvRequest& request) noexcept;
    void give_up(Unexpected& message) noexcept;

    // packets.cpp: what arrives
    static void receive(void* context, btl::Endpoint& from, const void* header, std::size_t header_size,
        const void* payload, std::size_t payload_size) noexcept;
    void receive_other(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept;
    void receive_message(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept;
    // `state`: of the communicator that is meant; nullptr: find_state has found none.
    void on_message(
        Peer& from, CommState* state, const void* header, const std::byte* payload, std::size_t payload_size) noexcept {
        const auto& match = *static_cast<const MatchHeader*>(header);
        if (match.type == PacketType::match) [[likely]] {
            on_match(from, state, match, payload, payload_size);
        } else if (match.type == PacketType::rts) {
            on_rts(from, state, *static_cast<const RtsHeader*>(header));
        } else {
            on_sync(from, state, *static_cast<const SyncHeader*>(header), payload, payload_size);
        }
    }
    CommState* find_state(const MatchHeader& match) noexcept;
    static bool is_rank_of(CommState& state, const MatchHeader& match) noexcept {
        if (!state.prepare()) {
            return false;
        }
        if (std::uint32_t(match.source) < std::uint32_t(state.comm.remote_size)) [[likely]] {
            return true;
        }
        complain_of_rank(state, match);
        return false;
    }
    static void complain_of_rank(const CommState& state, const MatchHeader& match) noexcept;
    void keep(
        Peer& from, CommState* state, const void* header, const std::byte* payload, std::size_t payload_size) noexcept;
    Unexpected* store(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept;
    // `state`: of the communicator that is meant; nullptr: find_state has found none.
    void on_match(
        Peer& from, CommState* state, const MatchHeader& match, const std::byte* payload, std::size_t size) noexcept;
    void on_sync(
        Peer& from, CommState* state, const SyncHeader& sync, const std::byte* payload, std::size_t size) noexcept;
    void on_rts(Peer& from, CommState* state, const RtsHeader& rts) noexcept;
    void on_cts(const CtsHeader& cts) noexcept;
    void on_frag(const FragHeader& frag, const std::byte* payload, std::size_t size) noexcept;
    void on_cancel(Peer& from, const SyncHeader& cancel) noexcept;
    void on_cancel_reply(const ControlHeader& reply) noexcept;

    // names.cpp: communicators whose index differs from process to process
    // nullptr: there is no such communicator here, not yet or not any more.
    CommState* find_named(const cid::ExtendedId& id, std::uint16_t senders_index) noexcept {
        // Until its sender has had our answer, message after message names the same one.
        if (_last_named != nullptr && *_last_named->name == id) {
            return _last_named;
        }
        // Processes that make communicators in the same order have them under the same index.
        CommState* guess = _comms[senders_index];
        return guess != nullptr && guess->name != nullptr && *guess->name == id ? _last_named = guess : look_up(id);
    }
    CommState* look_up(const cid::ExtendedId& id) noexcept;
    bool find_index(CommState& state, int rank, RankState& target) noexcept;
    void learn(CommState& state, int rank, std::uint16_t index) noexcept;
    void meet(CommState& state, Peer& from, const MatchHeader& match) noexcept {
        RankState& sender = state.rank(match.source);
        if (!sender.met) [[unlikely]] {
            sender.met = true;
            get_acquainted(state, sender, from, match);
        } else if (_owed.to == &sender) [[unlikely]] {
            answer_now(); // its sender waits for no reply: the earlier it knows the more it saves
        }
    }
    void get_acquainted(CommState& state, RankState& sender, Peer& from, const MatchHeader& match) noexcept;
    void on_nameless(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept;
    void answer_now() noexcept;
    // What was owed to that rank is told.
    void settle(RankState& target) noexcept {
        target.has_our_index = true;
        _owed = {};
        if (target.stranger != nullptr) {
            target.match_word = MatchWords::without_flags(target.match_word);
            target.peer = std::exchange(target.stranger, nullptr);
        }
    }
    void on_answer(const AnswerHeader& answer) noexcept;

    // early.cpp: what came before its communicator
    void deliver_early(CommState& state) noexcept;
    bool withdraw_early(ArrivalQueue& early, const Peer& from, std::uint32_t id) noexcept;

    // probe.cpp
    Unexpected* look(CommState& state, int source, int tag) noexcept;
    int take(CommState& state, Unexpected& message, Message** out) noexcept;

    Progress& _progress;
    Runtime& _runtime; // only to end the job
    const ProcessId _self;
    const Settings _settings;
    ProgressLock _lock;
    Lease _btl_lease; // declared before the modules: given back after they are gone
    std::vector<std::unique_ptr<btl::Module>> _btls;
    std::vector<btl::Module*> _polled;
    PollerHandle _poller;

    struct FreeDelete {
        void operator()(void* memory) const noexcept { std::free(memory); }
    };
    std::unique_ptr<CommState*[], FreeDelete> _comms; // by index; pages never touched cost nothing
    std::map<ProcessId, Peer> _peers;
    Names _names;
    CommState* _last_named = nullptr; // by a message; lives
    // Messages for communicators that do not exist here yet, by what they call them.
    std::map<std::uint16_t, ArrivalQueue> _early_by_index;
    std::unordered_map<cid::ExtendedId, ArrivalQueue, cid::ExtendedIdHash> _early_by_name;
    MessageStore _store;
    Pool<SendRequest> _send_pool;
    Pool<RecvRequest> _recv_pool;
    Pool<MatchedMessage> _message_pool;
    Pool<Waiting> _waiting_pool;
    List<Peer, &Peer::backlog> _backlog;
    List<RecvRequest, &RecvRequest::fetch_link> _fetches;
    Ob1Request* _abandoned = nullptr;
    // An answer that waits for our next message there, at the longest until the next poll. Both know the
    // communicator by the same index.
    struct Owed {
        RankState* to = nullptr; // nullptr: nothing is owed
        CommState* state = nullptr;
        Peer* peer = nullptr;
    };
    Owed _owed;
    List<SendRequest, &SendRequest::under_way_link> _sends; // in the order they were started
    std::uint32_t _ids = 0;
};

} // namespace patchbay::pml::ob1
