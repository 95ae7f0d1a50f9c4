// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "frameworks/cid/extended_id.h"
#include "object/communicator.h"
#include "object/datatype.h"
#include "object/request.h"

#include <climits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Context;

// pml: two-sided messages. One module serves a whole job; every process must choose the same component.
//
// Common rules, for every function of Module unless it says otherwise:
//  - Called by the bindings and by collectives, on any thread the thread level allows. The module locks itself when
//    Progress::threaded() is set and takes no lock otherwise. That may be turned on at any time: a ProgressLock that is
//    made with Progress::threads() does all of this.
//  - Arguments have been checked. `dest`/`source` are ranks of the remote group (== local group for
//    intracommunicators), never MPI_PROC_NULL; `source` may be MPI_ANY_SOURCE, `tag` MPI_ANY_TAG where receiving.
//  - Tags below zero other than MPI_ANY_TAG belong to the library (collectives, communicator creation). MPI_ANY_TAG
//    never matches them.
//  - Messages between two processes on one communicator are matched in the order they were sent (MPI-5.0, 3.5).
//  - Returns an MPI error code. The function that finds the cause reports the text; its callers only return the code.
//  - "May block" means: waits with the library's waiting policy and makes progress meanwhile.
namespace pml {

inline constexpr std::uint32_t interface_version = 12;

// No pml allows users larger tags: the library's own are negative, and below all others there are four ranges of this
// size, of MPI_Comm_create_group and MPI_Intercomm_create (mpi/communicators/construction_tags.h) and of partitioned
// communication (partitioned_tags.h).
inline constexpr int highest_tag = INT_MAX / 4 - (1 << 20);

// buffered: Request::bound() only; a pml gets the message of a buffered send as a standard one, from the buffer.
enum class SendMode : std::uint8_t { standard, synchronous, ready, buffered };

// What a persistent point-to-point request binds: Request::bound().
struct PersistentRequest {
    void* buffer; // of a send: only to be read
    MPI_Count count;
    const Datatype* type;         // exists as long as the request
    int peer;                     // rank in the remote group, MPI_ANY_SOURCE or MPI_PROC_NULL
    int tag;                      // or MPI_ANY_TAG
    std::optional<SendMode> mode; // of a send; none: a receive
};

// What a partitioned request (MPI-5.0, 4.2) binds: Request::bound_partitions(). It is made above the modules
// (partitioned.h), of persistent requests.
struct PartitionedRequest {
    void* buffer; // of a send: only to be read
    int partitions;
    MPI_Count count;      // of elements in each partition
    const Datatype* type; // exists as long as the request
    int peer;             // rank in the remote group, or MPI_PROC_NULL
    int tag;
    bool sends;
    bool may_bind = true; // whether channels may carry its messages, as far as the program is concerned
};

// What a module keeps per communicator.
class CommData {
public:
    virtual ~CommData() = default;
};

// A message for a communicator that this process did not have yet: which one, by the index that it has here or by its
// name, and the packet, whose inside is the component's own.
struct EarlyMessage {
    ProcessId from;
    std::optional<std::uint16_t> index; // none: `name` counts
    cid::ExtendedId name;
    std::vector<std::byte> packet;
};

// A message that the program has started and that has not ended; `peer` may be MPI_ANY_SOURCE, `tag` MPI_ANY_TAG.
struct UnfinishedMessage {
    bool is_send;
    int peer;
    int tag;
};

class Module {
public:
    virtual ~Module() = default;

    // Called once per communicator, after its index, groups and ranks are set and before this process sends on it, on
    // the creating thread. Must not communicate and must not spend memory per peer. Messages that arrived early for it
    // are delivered here. Sets comm.pml_data. An error is final, and the other members know of it or get it by
    // refuse(): another member has refused this communicator (the cause is stored), or memory is exhausted.
    virtual int add_comm(Communicator& comm) noexcept = 0;
    // Called once, after its last user is gone and all operations on it have completed.
    virtual void remove_comm(Communicator& comm) noexcept = 0;

    // This process has failed to construct the communicator with this exCID, and other members may have it: a
    // constructor under cid/excid need not exchange anything. Called by the constructor, on the constructing thread,
    // before or after add_comm. `comm` has its groups and its session; nothing else of it need be set. Sends the error
    // to all other members of both groups. There the constructor fails if add_comm has not been called yet; otherwise
    // all operations on the communicator, on its local_comm and on those derived from it end with `code`: pending and
    // later ones, with any member. Messages that have matched are still transferred. The members can only free it.
    // Never blocks.
    virtual void refuse(const Communicator& comm, const cid::ExtendedId& id, int code) noexcept = 0;
    // Why operations on this communicator, which has been added, end with this error: a text for the user, if that is
    // because of a refusal; otherwise empty. Called for the report of an error. Valid until this thread's next call.
    virtual std::string_view failure_text(const Communicator& comm, int code) noexcept = 0;
    // For the report of operations that can never end: the messages of the program on this communicator that have not
    // ended, as many as fit. Returns how many there are. A module that cannot tell names none.
    virtual std::size_t unfinished(const Communicator& comm, std::span<UnfinishedMessage> into) noexcept {
        (void)comm, (void)into;
        return 0;
    }

    // May block until the buffer may be reused (synchronous: until matched).
    virtual int send(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
        Communicator& comm) noexcept = 0;
    // May block until the message is in the buffer. `status` may be null; a truncated message is MPI_ERR_TRUNCATE and
    // has its status filled.
    virtual int recv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        MPI_Status* status) noexcept = 0;

    // Never block. *request is an active (perhaps already complete) request. It is completed with Request::complete():
    // in a poll, or in a call of this module.
    virtual int isend(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
        Communicator& comm, Request** request) noexcept = 0;
    virtual int irecv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        Request** request) noexcept = 0;

    // Persistent: inactive requests, begun by Request::start(), which tell by Request::bound() what they bind.
    virtual int send_init(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
        Communicator& comm, Request** request) noexcept = 0;
    virtual int recv_init(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        Request** request) noexcept = 0;

    // Never block; make one round of progress when nothing matches at once. `status` may be null.
    virtual int iprobe(int source, int tag, Communicator& comm, bool* found, MPI_Status* status) noexcept = 0;
    virtual int improbe(
        int source, int tag, Communicator& comm, bool* found, Message** message, MPI_Status* status) noexcept = 0;
    // May block until a message matches.
    virtual int probe(int source, int tag, Communicator& comm, MPI_Status* status) noexcept = 0;
    virtual int mprobe(int source, int tag, Communicator& comm, Message** message, MPI_Status* status) noexcept = 0;

    // Receive a matched message; the message object is gone afterwards. mrecv may block, imrecv never does.
    virtual int mrecv(
        void* buffer, MPI_Count count, const Datatype& type, Message* message, MPI_Status* status) noexcept = 0;
    virtual int imrecv(
        void* buffer, MPI_Count count, const Datatype& type, Message* message, Request** request) noexcept = 0;

    // Waits until all sends that were started have left their buffers and, where their requests were freed, have
    // released their communicators, and until pending acknowledgements have been sent: the process may not poll for
    // long afterwards. May block. It waits also for a message that no peer receives, so each of these functions waits
    // for what its caller is responsible for, and no more: drain() when the library goes down;
    virtual void drain() noexcept = 0;
    // for one communicator, which is only about sends;
    virtual void drain_communicator(const Communicator& comm) noexcept = 0;
    // for the communicators of one session, freed ones too. nullptr: of the world model.
    virtual void drain_session(const Session* session) noexcept = 0;

    // Sessions end locally: a peer cannot know that the process to which it sends is between two generations of the
    // library, or in the generation before the one for which the message is. Called once when the last communicator has
    // gone, before the module is destroyed; it does not poll after that. Never blocks.
    virtual std::vector<EarlyMessage> take_early() noexcept = 0;
    // Called before the first communicator is added, with what an earlier module of this component gave away.
    virtual void accept_early(const EarlyMessage& message) noexcept = 0;

    // The launcher has reported that a process has failed, which it does only where the job goes on without it (mpirun
    // --disable-auto-cleanup), or that one has ended after such a failure. Everything that waits for this process ends
    // with MPI_ERR_PROC_ABORTED: sends to it, receives and probes of its messages, also those that are started later;
    // what it had sent before can still be received. Receives from MPI_ANY_SOURCE, and everything that waits for other
    // processes, go on. Called by a poller, on the thread that polls, any number of times for one process. Never
    // blocks.
    virtual void peer_failed(ProcessId process) noexcept = 0;

    // Highest tag a user may use (MPI_TAG_UB), at most highest_tag, and highest communicator index the match header can
    // carry.
    virtual int max_tag() const noexcept = 0;
    virtual std::uint32_t max_index() const noexcept = 0;
};

struct Candidate {
    int priority = 0; // higher wins
    std::unique_ptr<Module> module;
};

class Component : public patchbay::Component {
public:
    // Called once per instance, on the initialising thread, when the runtime, progress and the node segment are up. A
    // pml that needs btls calls Context::transports. Errc::not_available: no candidate here.
    virtual Result<Candidate> query(Context& context) = 0;
    // Interposer: called with the pml that was selected when parameter pml_wrap names this component, right after the
    // queries, on the same thread. Must not communicate. The component may put a module of its own in the place of
    // `module`, which then owns the former one and is destroyed instead of it; the former one does not know.
    // Errc::not_available: the component does not wrap this one; any other error fails the selection. After an error
    // `module` is as it was.
    virtual Status wrap(Context& context, std::unique_ptr<Module>& module) {
        (void)context, (void)module;
        return Error{Errc::unsupported, "it wraps no pml"};
    }
};

} // namespace pml
} // namespace patchbay
