// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "core/runtime/process_id.h"
#include "object/communicator.h"
#include "object/datatype.h"
#include "object/request.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

class Context;

// chan: persistent channels. A channel binds one persistent send of a process to one persistent receive of another
// process (or of the same one), once; after that, MPI_Start of the two *bound requests* moves a message with no
// matching, no selection and no allocation. The component is chosen per channel: by info key `patchbay_chan` of either
// side, otherwise by parameter `chan`. Both sides have the same component.
//
// The layer above (mpi/channels) matches the two sides, compares their sizes, selects the component, carries what the
// two halves tell each other, and agrees on the end. A component has the transfer only.
//
// Common rules:
//  - A channel of a program has the ready property (MPI-5.0, 3.4): each start of the send follows the corresponding
//    start of the receive. A component may use that, and need not detect a program that breaks it. A channel that
//    carries messages of an operation (a persistent collective, partitioned communication) is not `ready`: its send may
//    be started first, and waits then where the component has no room for the message. Only what a process does to its
//    own request is checked, above: no more than Binding::slackness starts are outstanding.
//  - A synchronous send completes when the corresponding start of the receive has begun. It must not wait for check()
//    of the receive: the other process, or this one, may wait for another request meanwhile (MPI_Waitall waits for one
//    request after the other).
//  - The messages of a channel are in the order of their starts, and in no order with any other communication.
//  - Functions return MPI error codes. The function that finds the cause stores the text (object/error_cause.h) or has
//    Channel::cause() return it; its callers only return the code.
//  - One channel is used by one thread at a time: start(), check(), connect(), rebind(), disconnect() and the ends of
//    starts never overlap, and what a thread did before is visible to the next. Only partner_failed() may come at any
//    time. Different channels are used by different threads at once, if the thread level allows it
//    (Progress::threaded()).
namespace chan {

inline constexpr std::uint32_t interface_version = 7;

// The most bytes that a half may tell the other one.
inline constexpr std::size_t most_offer_bytes = 256;
inline constexpr std::uint32_t most_slackness = UINT16_MAX;

// For which messages of operations a channel is faster than the pml: a set.
enum class Faster : std::uint8_t {
    never = 0,
    alone = 1,        // one that the operation waits for, as those of persistent collectives
    among_others = 2, // one of many that are under way at a time, as those of partitioned communication
};
constexpr Faster operator|(Faster one, Faster other) noexcept {
    return Faster(std::uint8_t(one) | std::uint8_t(other));
}
constexpr bool have_common(Faster one, Faster other) noexcept {
    return (std::uint8_t(one) & std::uint8_t(other)) != 0;
}

// One side of a channel, as bound by this process.
struct Side {
    bool sends;       // this process has the send
    bool synchronous; // the send is a synchronous one, whichever side this is; in query() of a receive: not known yet
    void* buffer;     // of a send: only to be read
    MPI_Count count;
    const Datatype* type; // committed; Channel holds a reference
    std::uint32_t slackness;
    // The message of start s (counted from 0, since the binding) is at buffer + (s mod slackness) * increment_bytes.
    MPI_Aint increment_bytes;
    bool ready = true; // the ready property; equal on both sides
};

// What both processes know before the setup. The layer above has matched the two sides and checked that the sizes in
// bytes and the slacknesses are equal.
struct Binding {
    Side side;
    Communicator* comm;  // Channel holds a reference
    int peer;            // the other side's rank in the remote group (== local group for intracommunicators)
    int tag;             // of the program: what the status of a message says
    ProcessId partner;   // perhaps this process
    std::uint64_t bytes; // of a message, at most
    // Tags of the pml on `comm` that no other message has while the channel exists: for messages to this process, and
    // for messages to the partner. In query(): not known yet.
    int tag_here;
    int tag_there;
};

// One half of a channel: the bound request itself. Made by Component::create(), which is followed by connect() or,
// after an error of either side, directly by disconnect(). The library calls disconnect() once before retire(), in
// which the component destroys the object.
class Channel : public Request {
public:
    // The binding as it was made: rebind() does not change it.
    const Binding& binding() const noexcept { return _binding; }

    // Called once with what the other half has put into its `offer`, when both halves have been created; the first
    // start on either side follows when both are connected. Local; does not block. An error ends the binding on both
    // sides.
    virtual int connect(std::span<const std::byte> partner_offer) noexcept = 0;
    // MPIX_Rebind_channel of an inactive request: later starts use this buffer and this count, which is at most
    // binding().side.count. The slot of the next start and the increment are as without it. Local; does not block. The
    // sizes of the two sides may differ from then on: a message that is longer than the receiver's buffer is
    // MPI_ERR_TRUNCATE there, and a shorter one has its size in the status.
    virtual int rebind(void* buffer, MPI_Count count) noexcept = 0;
    // Called once, in any of these cases: both sides have begun to unbind, so that nothing is outstanding on either
    // side; the binding has failed; the library goes down, and the partner may use its half still; is_unbinding() on a
    // channel that is not `ready`, where all starts of this side have completed and neither side starts it again, but
    // the partner may not have completed its last start yet. Releases what the two halves share. Does not block. No
    // function but retire() follows.
    virtual void disconnect() noexcept = 0;
    // The partner has failed: outstanding starts and all later ones end with MPI_ERR_PROC_ABORTED, except for messages
    // that have arrived. Called by a poller, on the thread that polls, at any time between create() and disconnect(),
    // perhaps while another thread is in another function of this object, and any number of times. Usually sets a flag
    // at which check() looks. Does not block.
    virtual void partner_failed() noexcept = 0;
    // Called by MPI_Comm_disconnect for a channel with more than one start outstanding of which the oldest is complete,
    // on any thread, until true is returned: whether the messages of all its starts have been transferred, or never
    // will be. It goes on with them as check() does; no start and no check() overlaps. Does not block. By default true:
    // for a component whose messages hold references to the communicator of their own.
    virtual bool have_all_ended() noexcept { return true; }

    // Request. start() is the hot path: called for an inactive request, or with less than `slackness` starts
    // outstanding; does not block. With outstanding starts the oldest may be complete already, so that start()
    // must not call check() or complete_oldest() then (state()). check() is described there: a channel sets
    // checks_itself unless it completes in pollers.
    int cancel() noexcept final;
    std::string_view refuses_free() const noexcept override;
    // By default a text for MPI_ERR_PROC_ABORTED and MPI_ERR_TRUNCATE.
    std::string_view cause() const noexcept override;
    // Its own reference; a component that holds more adds them.
    std::int32_t references_to_comm() const noexcept override { return 1; }

    // For the layer above: the request has no persistent operation any more, and is active until complete(). It leaves
    // the list of the communicator.
    void begin_unbinding() noexcept;
    bool is_unbinding() const noexcept { return _unbinding; }
    void end_unbinding(int code) noexcept;
    // The channel is a part of a persistent collective or of a partitioned request: it is in no list, and the program
    // has no handle of it.
    void belong_to_operation() noexcept { _of_operation = true; }
    bool is_of_operation() const noexcept { return _of_operation; }

protected:
    // Sets what a Request needs before it can be started: its communicator, progress, most_starts; the status of every
    // message (source, tag, Binding::bytes). `progress`: Context::progress().
    Channel(Progress& waits, const Binding& binding) noexcept;
    ~Channel() override = default;

    // For start(): one start more is outstanding. `done`: it is complete already. The status and the error that it has
    // then, and that check() sets later otherwise, are `status` and `error` of the request, which are those of the
    // oldest outstanding start.
    void add_start(bool done) noexcept {
        if (most_starts != 1) {
            const std::uint32_t before = outstanding();
            _outstanding.store(before + 1, std::memory_order_relaxed);
            if (before != 0) {
                return;
            }
        }
        done ? set_complete() : set_active();
    }
    // How many starts of a channel with a slackness above 1 are outstanding.
    std::uint32_t outstanding() const noexcept { return _outstanding.load(std::memory_order_acquire); }
    // For check(), which is called for an active request only: the oldest outstanding start is complete.
    void complete_oldest() noexcept { complete(); }

private:
    // A completing call has ended the oldest start. The next one becomes the oldest: check() looks whether it is
    // complete.
    std::uint32_t outstanding_starts() const noexcept final { return outstanding(); }
    bool has_later_communication() noexcept final { return outstanding() > 1 && !have_all_ended(); }
    void end_first_start() noexcept final {
        const std::uint32_t left = outstanding() - 1;
        left == 0 ? set_inactive() : set_active(); // first, for has_later_communication()
        _outstanding.store(left, std::memory_order_release);
        if (left != 0) {
            if (checks_itself) {
                static_cast<void>(has_completed());
            } else {
                check(); // of a channel that a poller completes: no completing call does this
            }
        }
    }

    const Binding _binding;
    const Ref<Communicator> _comm;
    const Ref<Datatype> _type;
    std::atomic<std::uint32_t> _outstanding{0}; // only kept for a slackness above 1; read by other threads
    bool _unbinding = false;
    bool _of_operation = false;
    CompleteReference _complete_reference; // from the end of the unbinding on
};

class Component : public patchbay::Component {
public:
    // Called for every channel on both sides, on any thread that the thread level allows, perhaps in a poll. The
    // priority for this channel, 0 to 100, by what this process knows alone. Local; does not block.
    // Errc::not_available: it cannot serve this channel (the partner is on another node, say). The component with the
    // highest sum of the priorities of both sides is taken. Of a channel between threads (its communicator has a view)
    // only a component with Capability::peers_threads is asked: each half belongs to one thread then, and waits by
    // Communicator::progress.
    virtual Result<int> query(Context& context, const Binding& binding) = 0;
    // Makes this process's half, and writes what the partner's half needs into `offer`, which has most_offer_bytes
    // bytes; *used is their number, 0 before the call. Called on both sides for the component that was taken, first on
    // the side that receives; in the same circumstances as query(). Local; does not block. An error ends the binding on
    // both sides with its text; the caller sees to that. The result is inactive.
    virtual Result<Channel*> create(
        Context& context, const Binding& binding, std::span<std::byte> offer, std::size_t* used) noexcept = 0;
    // When a start on both sides and its completion take less time than those of a message of the pml, with the
    // receiver's use of the data, by what this process knows alone. Asked for channels that are not `ready`: messages
    // of operations have one if both sides say that it is faster for them. In the same circumstances as query().
    virtual Faster faster(Context& context, const Binding& binding) noexcept {
        (void)context;
        (void)binding;
        return Faster::never;
    }
};

} // namespace chan
} // namespace patchbay
