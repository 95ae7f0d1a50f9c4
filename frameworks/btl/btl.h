// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "object/process.h"

#include <cstddef>
#include <memory>
#include <span>
#include <sys/uio.h>

namespace [[gnu::visibility("default")]] patchbay {

class Context;

// btl: moves bytes to one peer. Used by pml components that match messages themselves, and only by them.
//
// Common rules:
//  - All calls to all modules of a job are serialised by their one user, the pml (it holds its lock when several
//    threads run). A btl therefore needs no lock of its own.
//  - Nothing blocks, nothing calls back into the user except `poll`.
//  - Packets to one endpoint arrive complete, once, and in the order they were sent.
namespace btl {

inline constexpr std::uint32_t interface_version = 5;

// A peer as one module reaches it. Made by connect() on first contact; the module owns it and destroys it at its own
// end.
class Endpoint {
public:
    const ProcessId process;
    void* user = nullptr; // of the pml

protected:
    explicit Endpoint(ProcessId process) noexcept
        : process(process) {}
    ~Endpoint() = default;
};

enum class SendCode : std::uint8_t {
    ok,        // copied; the caller may reuse both buffers
    full,      // no room now: nothing was sent; try again, in order, after progress
    no_memory, // this process has no memory for the packet: nothing was sent; the caller may try again, in order, later
    failed,    // the peer is gone; the cause has been reported
};

// Called by poll() for every packet, on the polling thread: header and payload are valid during the call only.
// The receiver may send from inside it. true: the packet has been processed. false: the receiver has no memory for it
// now, and has sent nothing from inside the call. Then the module keeps the packet, and a later poll delivers it again,
// before all later packets of that peer. The poll counts it as an event, so that the process does not sleep.
using Receiver = bool (*)(void* context, Endpoint& from, const void* header, std::size_t header_size,
    const void* payload, std::size_t payload_size) noexcept;

inline constexpr std::size_t smallest_header_room = 56;

struct Limits {
    std::size_t header = 0;      // bytes of header a packet can carry, at least smallest_header_room
    std::size_t eager = 0;       // best size up to which a message travels whole in one packet
    std::size_t packet = 0;      // most payload bytes of one packet (>= eager)
    std::size_t inline_size = 0; // header + payload up to this cost a single cache line, or its like
    std::size_t get_from = 0;    // messages of at least this size are better fetched by get(); 0: get is not offered
    unsigned latency_ns = 0;     // for the pml's choice between btls that reach the same peer
    unsigned bandwidth_mbps = 0;
    // Packets may come from a peer that this process never connected to, so that poll() is needed from the start;
    // false: only once connect() has been called.
    bool unsolicited = true;
};

class Module {
public:
    virtual ~Module() = default;

    virtual const char* name() const noexcept = 0;
    virtual const Limits& limits() const noexcept = 0; // only get_from changes later

    // Called before the first connect, and again whenever the pml wants its packets passed to another function: never
    // from inside poll() or a receiver.
    virtual void set_receiver(Receiver receiver, void* context) noexcept = 0;

    // Can this module reach that process? Local, no communication.
    virtual bool reaches(ProcessId process) const noexcept = 0;
    // First contact. May make system calls, must not wait for the peer. nullptr: failed, the cause has been reported.
    // Where the peer's address has yet to come from the launcher (Runtime::get_start), the endpoint exists at once, and
    // send() and reserve() return `full` for it until the address is there: the pml queues what it has to send and
    // tries again with each poll. `failed` then means that the address never came.
    virtual Endpoint* connect(ProcessId process) noexcept = 0;

    // One packet: header and payload are copied out before it returns. The hot path.
    virtual SendCode send(Endpoint& to, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept = 0;

    // The same with the payload written by the caller straight into the wire's memory: reserve gives room for at most
    // `payload_size` bytes, then exactly one commit with how much was used follows before any other call to this
    // module for this endpoint. No commit follows a reservation that is not `ok`.
    struct Reservation {
        SendCode code;
        std::span<std::byte> room;
    };
    virtual Reservation reserve(Endpoint& to, std::size_t header_size, std::size_t payload_size) noexcept = 0;
    virtual SendCode commit(
        Endpoint& to, const void* header, std::size_t header_size, std::size_t payload_size) noexcept = 0;

    // Single copy: fetch `size` bytes from the peer's memory at `remote` (an address in the peer) into `local`, now.
    // Returns bytes fetched, or -errno: the pml then falls back to packets for this peer, which --explain shows.
    virtual std::ptrdiff_t get(Endpoint& from, std::uint64_t remote, std::span<const iovec> local) noexcept {
        (void)from, (void)remote, (void)local;
        return -95; // EOPNOTSUPP
    }
    // May get() work with this peer? Probed once per peer with a real read, not guessed. What the probe finds may
    // change limits().get_from.
    virtual bool can_get(Endpoint& from) noexcept {
        (void)from;
        return false;
    }

    // Deliver what has arrived. Called by the progress engine through the pml. Returns packets delivered, and counts
    // those that the receiver has not taken.
    virtual int poll() noexcept = 0;
};

struct Candidate {
    int priority = 0;
    std::unique_ptr<Module> module;
};

class Component : public patchbay::Component {
public:
    // Called once per instance, when the pml calls Context::select_btls. Errc::not_available: cannot work here (no
    // peers on this node, say).
    virtual Result<Candidate> query(Context& context) noexcept = 0;
    // Interposer: called with each btl that was selected when parameter btl_wrap names this component, right after the
    // queries, on the same thread. Must not communicate. The component may put a module of its own in the place of
    // `module`, which then owns the former one and is destroyed instead of it; the former one does not know.
    // Errc::not_available: the component does not wrap this one; any other error fails the selection. After an error
    // `module` is as it was.
    virtual Status wrap(Context& context, std::unique_ptr<Module>& module) noexcept {
        (void)context, (void)module;
        return Error{Errc::unsupported, "it wraps no btl"};
    }
};

} // namespace btl
} // namespace patchbay
