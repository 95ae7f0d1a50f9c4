// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/lock.h"
#include "core/progress/progress.h"
#include "frameworks/btl/selection.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {
namespace btl {

class Transports;

// What the transports call of a consumer, always with their lock held. `context` is passed to each.
struct Consumer {
    void* context = nullptr;
    // For each packet of this consumer, as Receiver says. null: nobody sends it packets; it is a consumer because its
    // one-sided operations need polls.
    Receiver receive = nullptr;
    // Called once at the end of a poll, on the polling thread, after mark(): sends what had no room, and the like.
    // Returns the number of events (0: the process may sleep). A consumer with more to do marks itself again.
    int (*work)(void* context) noexcept = nullptr;
    // The process has failed. Packets that it had sent before have been delivered, as far as they have arrived. The
    // consumer ends with an error what waits for that process. Once per process, on any thread, not from inside a poll.
    void (*peer_failed)(void* context, ProcessId process) noexcept = nullptr;
    // All processes of the job have ended, and no communicator has one of them (Transports::forget_ended). may_forget:
    // whether the consumer can do without its own objects for these processes; forget: it destroys them, and uses no
    // endpoint to these processes any more. null: it has none without a communicator.
    bool (*may_forget)(void* context, JobNumber job) noexcept = nullptr;
    void (*forget)(void* context, JobNumber job) noexcept = nullptr;
};

// A module and a peer that it is connected to.
struct Way {
    Module* module = nullptr;
    Endpoint* endpoint = nullptr;
    explicit operator bool() const noexcept { return endpoint != nullptr; }
};

// For as long as it exists, a consumer gets its packets. The end takes the lock; afterwards nothing of the consumer is
// called any more. Packets that arrive afterwards are lost, which
// is reported: the consumers of all processes have made sure that there are none.
class ConsumerHandle {
public:
    ConsumerHandle() noexcept = default;
    ConsumerHandle(Transports& transports, ConsumerId id) noexcept
        : _transports(&transports),
          _id(id) {}
    ConsumerHandle(ConsumerHandle&& other) noexcept
        : _transports(std::exchange(other._transports, nullptr)),
          _id(other._id) {}
    ConsumerHandle& operator=(ConsumerHandle&& other) noexcept {
        if (this != &other) {
            reset();
            _transports = std::exchange(other._transports, nullptr);
            _id = other._id;
        }
        return *this;
    }
    ~ConsumerHandle() { reset(); }
    void reset() noexcept;

private:
    Transports* _transports = nullptr;
    ConsumerId _id = ConsumerId::pml;
};

// The btls of a job: they belong to the library, and any framework may send, receive and work one-sidedly over them
// (Context::transports). The modules, the ways to a peer, and who gets which packet.
//
// The lock. There is one lock for all functions of Module (Module says which), for the functions here that ask for it,
// and for the state of all consumers: a poll calls receivers, a receiver changes what the calls of the program change
// too, and sends again. If a consumer had a lock of its own, its calls would take it first and then that of the
// transports to send, and the receivers would have them in the other order. A consumer therefore uses this lock
// (Guard) for its own state. It costs nothing while one thread uses the library. It is not recursive: a receiver, which
// runs with it, must not call a function that takes it, of the transports or of a framework above such as pml.
// The functions of OneSided need no lock, and a copy of many bytes is made without it.
class Transports {
public:
    // With the modules of `selection`, best first. Throws std::bad_alloc.
    Transports(Progress& progress, ProcessId self, Selection selection);
    // All consumers have ended.
    ~Transports();
    Transports(const Transports&) = delete;
    Transports& operator=(const Transports&) = delete;

    ProgressLock& lock() noexcept { return _lock; }
    // Holds the lock where several threads run; otherwise one branch.
    class Guard {
    public:
        explicit Guard(ProgressLock& lock) noexcept
            : _lock(lock),
              _alone(_lock.acquire()) {}
        explicit Guard(Transports& transports) noexcept
            : Guard(transports._lock) {}
        ~Guard() { _lock.release(_alone); }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

    private:
        ProgressLock& _lock;
        const bool _alone;
    };

    // Takes the lock. From now on packets with this id are passed to `consumer`, and the modules are polled as long as
    // there is a consumer. Processes may send packets to a consumer of this one only when they know that it exists
    // here, for instance after a collective operation; the pml exists from the start. Errors: invalid (there is one
    // with that id), out_of_memory.
    Result<ConsumerHandle> add_consumer(ConsumerId id, const Consumer& consumer) noexcept;

    // With the lock held. From now on packets of this consumer are passed to that function.
    void set_receiver(ConsumerId id, Receiver receive) noexcept { _consumers[std::size_t(id)].receive = receive; }
    // With the lock held. Consumer::work is called at the next end of a poll, which may be that of the poll under way.
    void mark(ConsumerId id) noexcept { _marked |= 1u << unsigned(id); }

    // All modules, best first. Constant; no lock.
    std::span<const std::unique_ptr<Module>> modules() const noexcept { return {_modules.data(), _modules.size()}; }
    // The module of the `nth` best way to the process (0: the best, which has the lowest latency); nullptr: there are
    // no more ways. Local; no lock. Every process sees the same order.
    Module* module_to(ProcessId process, std::size_t nth = 0) const noexcept;
    // The same among those whose one_sided() offers all of `wanted` at best.
    Module* one_sided_to(ProcessId process, Offers wanted) const noexcept;
    // With the lock held. First contact by that module, which is polled from now on; a later call returns the same
    // endpoint. No way: it failed, which has been reported. The endpoint lasts as long as the transports, or until
    // forget_ended() destroys it.
    Way connect(Module& module, ProcessId process) noexcept;
    // The same by the best way. No way: it failed, or there is none, for which unreachable_text() has the text.
    Way connect(ProcessId process) noexcept;
    // That no module reaches the process, and what a user can do; empty: one does. Throws std::bad_alloc.
    std::string unreachable_text(ProcessId process) const;

    // With the lock held. The process may send to this one, which has not connected to it: opens the module by which it
    // does (Module::open).
    Status expect(ProcessId process) noexcept;
    // Whether some module is not polled, so that expect() may have something to do.
    bool may_expect() const noexcept { return _polled.size() < _modules.size(); }

    // Called by the library when the process has failed, without the lock, on a thread that is in no poll of the
    // transports. Tells modules and consumers. A second call for the process does nothing.
    void peer_failed(ProcessId process) noexcept;
    // With the lock held.
    bool has_failed(ProcessId process) const noexcept;
    // Called by the library like peer_failed(), now and then. `unused`: jobs of which no communicator has a process.
    // What modules and consumers have for processes of those that have ended is given back.
    void forget_ended(std::span<const JobNumber> unused) noexcept;

private:
    friend class ConsumerHandle;
    static bool receive(void* context, Endpoint& from, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept;
    static bool lose(void* context, Endpoint& from, const void* header, std::size_t header_size, const void* payload,
        std::size_t payload_size) noexcept;
    bool may_deliver() noexcept;
    void deliver_rest() noexcept;
    int poll() noexcept; // some module is polled
    int poll_others() noexcept;
    int work() noexcept;
    bool is_polled(const Module& module) const noexcept;
    Status need_poll(Module& module) noexcept;
    Status need_poller() noexcept;
    void remove_consumer(ConsumerId id) noexcept;

    // For poll() and receive(), first.
    ProgressLock _lock;
    std::uint32_t _marked = 0;
    std::array<Consumer, most_consumers> _consumers;
    std::vector<Module*> _polled; // has room for all of them

    std::uint32_t _present = 0; // consumers
    Progress& _progress;
    const ProcessId _self;
    Lease _lease; // declared before the modules: released after they are destroyed
    std::vector<std::unique_ptr<Module>> _modules;
    std::vector<ProcessId> _failed;
    PollerHandle _poller;
};

} // namespace btl
} // namespace patchbay
