// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/backlog.h"
#include "components/pml/ob1/early_messages.h"
#include "components/pml/ob1/flow_control.h"
#include "components/pml/ob1/handshake.h"
#include "components/pml/ob1/matching.h"
#include "components/pml/ob1/peers.h"
#include "components/pml/ob1/pending_operations.h"
#include "components/pml/ob1/receive_protocol.h"
#include "components/pml/ob1/refusals.h"
#include "components/pml/ob1/rendezvous.h"
#include "components/pml/ob1/send_protocol.h"
#include "components/pml/ob1/shortage.h"
#include "components/pml/ob1/tool_source.h"
#include "components/pml/ob1/traffic.h"
#include "core/progress/waiter.h"

#include <chrono>

namespace patchbay::pml::ob1 {

struct Settings {
    std::size_t unexpected_limit =
        16 << 20;                      // bytes that unmatched messages of one peer may take before it gets an xoff
    std::size_t fetch_chunk = 4 << 20; // bytes of one large message that are fetched in one poll
    std::optional<Way> way;            // of all large messages; none: TransferChoice, or get
    TransferChoice::Clock clock = std::chrono::steady_clock::now; // by which TransferChoice times messages
    // for memory that another process waits for
    std::chrono::nanoseconds memory_wait = std::chrono::seconds(5);
};

// What the module uses of its process.
struct Services {
    Progress& progress;
    Runtime& runtime;
    cid::Directory& directory;
    cid::Counters& counters;
    ProcessId self;
    ToolRegistry* tool = nullptr; // nullptr: no tool can look
};

// The pml interface. The work is done by the parts below (README.md says what each part owns); all of them are called
// with the lock held, which is that of the transports and is taken only when the process has several threads.
class Ob1 final : public Module {
public:
    // Throws std::bad_alloc. The transports exist as long as the module.
    Ob1(const Services& services, btl::Transports& transports, const Settings& settings);
    ~Ob1() override;
    // Called once, before all other functions: packets are received from now on. The processes of the own job on this
    // node may send to this one.
    Status start() noexcept;

    int add_comm(Communicator& comm) noexcept override;
    void remove_comm(Communicator& comm) noexcept override;
    void refuse(const Communicator& comm, const cid::ExtendedId& id, int code) noexcept override;
    std::string_view failure_text(const Communicator& comm, int code) noexcept override;
    // For a send that has ended without a connection: notes that no btl reaches its destination. Returns the text;
    // empty: one does.
    std::string_view note_unreachable(const SendRequest& send) noexcept;
    std::size_t unfinished(const Communicator& comm, std::span<UnfinishedMessage> into) noexcept override;
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
    // The transports have told it already.
    void peer_failed(ProcessId) noexcept override {}
    int max_tag() const noexcept override { return highest_tag; }
    std::uint32_t max_index() const noexcept override { return Matching::max_index; }

    // For the requests. Each takes the lock.
    int restart(SendRequest& request) noexcept;
    int restart(RecvRequest& request) noexcept;
    int cancel(SendRequest& request) noexcept;
    int cancel(RecvRequest& request) noexcept;
    void retire(SendRequest& request) noexcept { retire(request, _sends); }
    void retire(RecvRequest& request) noexcept { retire(request, _receives); }
    Progress& progress() noexcept { return _progress; }

private:
    friend class Ob1ToolSource;
    // Holds the lock where several threads run; otherwise one branch.
    class Guard : public btl::Transports::Guard {
    public:
        explicit Guard(Ob1& module) noexcept
            : btl::Transports::Guard(module._lock) {}
    };

    // module.cpp
    int work() noexcept;
    Status expect_members(const Communicator& comm) noexcept;
    template <class Condition>
    void wait_with_lock(const Condition& condition) noexcept {
        wait_until(_progress, [&] {
            Guard guard(*this);
            return condition();
        });
    }

    template <class AnyRequest, class Protocol>
    void retire(AnyRequest& request, Protocol& protocol) noexcept {
        request.let_go(); // may destroy the communicator, which takes the lock
        Guard guard(*this);
        protocol.free(request);
    }

    // peer_failure.cpp
    void end_with(ProcessId failed) noexcept;
    bool may_forget(JobNumber job) noexcept;
    void forget(JobNumber job) noexcept;
    void fail_sends(const Peer& peer) noexcept;
    void fail_receives(ProcessId process) noexcept;

    // module_recv.cpp
    [[gnu::noinline]] int recv_beside_threads(RecvRequest& request, MPI_Status* status) noexcept;

    // module_send.cpp
    int send_by_request(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
        Communicator& comm) noexcept;
    [[gnu::noinline]] int restart_in_full(SendRequest& request) noexcept;
    [[gnu::noinline]] void start_later(SendRequest& request) noexcept;
    [[gnu::noinline]] int isend_in_full(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag,
        SendMode mode, Communicator& comm, Request** request) noexcept;

    // module_probe.cpp
    template <class TryOnce>
    bool try_twice(const TryOnce& try_once) noexcept;
    int take(CommState& state, Unexpected& message, Message** out) noexcept;
    int error_of(const CommState& state, int source) const noexcept;

    // dispatch.cpp: packets that arrive. false: no memory for the packet, as in btl::Receiver.
    static bool receive(void* context, btl::Endpoint& from, const void* header, std::size_t header_size,
        const void* payload, std::size_t payload_size) noexcept;
    // The same while messages are counted.
    static bool receive_and_count(void* context, btl::Endpoint& from, const void* header, std::size_t header_size,
        const void* payload, std::size_t payload_size) noexcept;
    bool receive_other(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept;
    bool receive_message(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept;
    bool receive_extended(Peer& from, const void* header, const std::byte* payload, std::size_t payload_size) noexcept;

    Progress& _progress;
    Runtime& _runtime; // only to end the job
    btl::Transports& _transports;
    ProgressLock& _lock;        // of the transports
    SingleThreadSection _alone; // in place of the lock, on the hot paths of a single thread
    Shortage _shortage;
    Peers _peers;
    Backlog _backlog;
    FlowControl _flow;
    Handshake _handshake;
    Rendezvous _rendezvous;
    SendProtocol _sends;
    ReceiveProtocol _receives;
    EarlyMessages _early;
    Matching _matching;
    PendingOperations _pending;
    Refusals _refusals;
    Traffic _traffic; // the parts above refer to it; none of them uses it in its constructor or destructor
    Pool<MatchedMessage, NoLock> _matched_messages;
    Ob1ToolSource _tool;           // declared behind what it reads: destroyed while that exists
    btl::ConsumerHandle _consumer; // declared last: nothing arrives any more when the rest is destroyed
};

} // namespace patchbay::pml::ob1
