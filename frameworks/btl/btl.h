// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "frameworks/btl/consumer.h"
#include "frameworks/btl/one_sided.h"
#include "object/process.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <sys/uio.h>

namespace [[gnu::visibility("default")]] patchbay {

class Context;

// btl: moves bytes to one peer. The modules belong to the library (transports.h); the frameworks that exchange packets
// or work one-sidedly over them are their users.
//
// Common rules:
//  - All calls to all modules of a job are serialised by the lock of the transports, which is taken when several
//  threads
//    run; Transports says who takes it. A btl therefore needs no lock of its own. Exceptions, called by any thread with
//    or without the lock: name(), limits(), reaches(), one_sided(), and the functions of OneSided.
//  - Nothing blocks, nothing calls back into the user except `poll`.
//  - Packets to one endpoint arrive complete, once, and in the order they were sent.
namespace btl {

inline constexpr std::uint32_t interface_version = 13;

// A peer as one module reaches it. Made by connect() on first contact; the module owns it and destroys it at its own
// end, or in forget().
class Endpoint {
public:
    const ProcessId process;
    std::array<void*, most_consumers> user{}; // each consumer's own, by ConsumerId

protected:
    explicit Endpoint(ProcessId process) noexcept
        : process(process) {}
    ~Endpoint() = default;
};

enum class SendCode : std::uint8_t {
    ok,        // copied; the caller may reuse both buffers
    full,      // no room now: nothing was sent; try again, in order, after progress. The process may sleep until there
               // is room: the module wakes it (a watched descriptor that becomes writable, the doorbell that the peer
               // rings when it has read, or a poller whose longest_sleep is short)
    no_memory, // this process has no memory for the packet: nothing was sent; the caller may try again, in order, later
    failed,    // the peer is gone; the cause has been reported
};

inline constexpr std::size_t smallest_header_room = 56;

// See Module::poll.
inline constexpr int polls_for_a_look = 16;

struct Limits {
    std::size_t header = 0;      // bytes of header a packet can carry, at least smallest_header_room. The first of them
                                 // says whose packet it is (consumer.h), which concerns no btl
    std::size_t eager = 0;       // best size up to which a message travels whole in one packet
    std::size_t packet = 0;      // most payload bytes of one packet (>= eager)
    std::size_t inline_size = 0; // header + payload up to this cost a single cache line, or its like
    std::size_t get_from = 0;    // messages of at least this size are better fetched by get(); 0: get is not offered
    // Whether get() is the faster way depends on what the memory was last used for, and by which core: the user times
    // get(), put() by the other process, and packets, and takes what is fastest. Constant.
    bool get_is_timed = false;
    unsigned latency_ns = 0; // for the choice between btls that reach the same peer; constant
    unsigned bandwidth_mbps = 0;
    // Packets may come from a peer that this process never connected to, so that poll() is needed from the start;
    // false: only once connect() or open() has been called.
    bool unsolicited = true;
};

class Module {
public:
    virtual ~Module() = default;

    virtual const char* name() const noexcept = 0;
    virtual const Limits& limits() const noexcept = 0; // only get_from changes later

    // Called by the transports, before the first connect and never from inside poll() or a receiver.
    virtual void set_receiver(Receiver receiver, void* context) noexcept = 0;

    // Can this module reach that process? Local, no communication.
    virtual bool reaches(ProcessId process) const noexcept = 0;
    // Called when there may be processes that send to this one by this module although this process has not connected
    // to them: after the first set_receiver(), or before a communicator with processes of other jobs is first used; on
    // the thread that initializes or that makes the communicator (Transports::expect), never from inside poll(). Not
    // called for a module whose limits() are `unsolicited`. A module whose peers need an address publishes it now; it
    // may query the launcher, but waits for no peer. poll() is called from then on. Later calls do nothing. After an
    // error, which the caller reports, the module is as before.
    virtual Status open() noexcept { return {}; }
    // First contact. May make system calls, must not wait for the peer. nullptr: failed, the cause has been reported.
    // Where the peer's address has yet to come from the launcher (Runtime::get_start), the endpoint exists at once, and
    // send() and reserve() return `full` for it until the address is there: the user queues what it has to send and
    // tries again with each poll. `failed` then means that the address never came.
    virtual Endpoint* connect(ProcessId process) noexcept = 0;

    // One packet: header and payload are copied out before it returns. The hot path. A packet that the process sends to
    // itself waits for its poll: the module wakes the threads that sleep (Progress::wake), where there are several.
    virtual SendCode send(Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept = 0;

    // The same with the payload written by the caller straight into the wire's memory: reserve gives room for at most
    // `payload_size` bytes, then exactly one commit with how much was used follows before any other call to this
    // module for this endpoint. No commit follows a reservation that is not `ok`. After `full` or `no_memory` from
    // commit nothing was sent, and the reservation has ended: the caller reserves and writes the payload again, in
    // order, later.
    struct Reservation {
        SendCode code;
        std::span<std::byte> room;
    };
    virtual Reservation reserve(Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept = 0;
    virtual SendCode commit(
        Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept = 0;

    // Single copy: fetch `size` bytes from the peer's memory at `remote` (an address in the peer) into `local`, now.
    // Returns bytes fetched, or -errno: the user then falls back to packets for this peer, which --explain shows.
    virtual std::ptrdiff_t get(Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept {
        (void)from, (void)remote, (void)local;
        return -95; // EOPNOTSUPP
    }
    // The same the other way: stores `local` to the peer's memory at `remote`, which the peer has asked for. Returns
    // the number of bytes, or -errno: the peer then does without. Visible there before what is sent next.
    virtual std::ptrdiff_t put(Endpoint& to, std::uint64_t remote, std::span<const std::byte> local) noexcept {
        (void)to, (void)remote, (void)local;
        return -95; // EOPNOTSUPP
    }
    // Packets to this peer follow, after long messages to it have gone by get() or put() for a while: what the module
    // has found out about the speed of its memory may not hold any more.
    virtual void resume_packets(Endpoint& to) noexcept { (void)to; }
    // May get() work with this peer? Probed once per peer with a real read, not guessed. What the probe finds may
    // change limits().get_from.
    virtual bool can_get(Endpoint& from) noexcept {
        (void)from;
        return false;
    }

    // One-sided operations to the endpoints of this module; nullptr: none are offered. It exists as long as the module.
    // Any thread; always the same value.
    virtual OneSided* one_sided() noexcept { return nullptr; }

    // Called with the lock when the process has failed, once. What is on the way from it may still be delivered. Sends
    // to it are `failed` or lead nowhere; one-sided operations fail with ESRCH, pending ones, too.
    virtual void peer_failed(ProcessId process) noexcept { (void)process; }

    // Whether the library of this process may still answer. false: it has ended, as far as the module can see, or its
    // process has; a library that the process initializes later receives what has been sent meanwhile. Called with the
    // lock, by a pml at the end of a poll while it waits for an answer without which the process may end.
    virtual bool may_answer(Endpoint& peer) noexcept {
        (void)peer;
        return true;
    }

    // A job whose processes are in no communicator of this process any more (Transports::forget_ended). Called with the
    // lock, never from inside poll(). has_ended(): whether each process of the job to which this module has an endpoint
    // has ended for good, and all that it had sent has been delivered. When all modules say so, forget() follows: it
    // destroys those endpoints and returns the memory of the processes. A module that does not have these functions
    // keeps them.
    virtual bool has_ended(JobNumber job) noexcept {
        (void)job;
        return false;
    }
    virtual void forget(JobNumber job) noexcept { (void)job; }

    // Deliver what has arrived, and call the completions of one-sided operations that have ended. Called by the
    // progress engine through the pml. Returns packets delivered, and counts those that the receiver has not taken. A
    // module for which a look is expensive, such as a system call, may look in one of polls_for_a_look polls only, if
    // the process does not sleep when something has arrived (Progress::watch).
    virtual int poll() noexcept = 0;
};

struct Candidate {
    int priority = 0;
    std::unique_ptr<Module> module;
};

class Component : public patchbay::Component {
public:
    // Called when Context::transports() makes its object, as a rule once per instance. Errc::not_available: cannot work
    // here (no peers on this node, say).
    virtual Result<Candidate> query(Context& context) = 0;
    // Interposer: called with each btl that was selected when parameter btl_wrap names this component, right after the
    // queries, on the same thread. Must not communicate. The component may put a module of its own in the place of
    // `module`, which then owns the former one and is destroyed instead of it; the former one does not know.
    // Errc::not_available: the component does not wrap this one; any other error fails the selection. After an error
    // `module` is as it was.
    virtual Status wrap(Context& context, std::unique_ptr<Module>& module) {
        (void)context, (void)module;
        return Error{Errc::unsupported, "it wraps no btl"};
    }
};

} // namespace btl
} // namespace patchbay
