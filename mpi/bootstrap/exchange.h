// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/memory/node_store.h"
#include "core/progress/progress.h"
#include "mpi/bootstrap/message.h"
#include "object/request.h"

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Group;
class Instance;
class ExchangeReduction;

// Where processes meet that have no communicator in common yet: a hidden communicator of the whole job, over which
// messages go. A message says by itself which meeting it belongs to, so that any number of them can be under way at one
// time, also some that this process has not come to yet: those messages wait here, and when the instance goes down
// meanwhile, in the process_state. Those of one node also have a node store, on which they find what somebody else has
// settled, or that they disagree. Costs nothing until the first meeting. Thread-safe.
class BootstrapExchange {
public:
    explicit BootstrapExchange(Instance& instance) noexcept
        : _instance(instance) {}
    ~BootstrapExchange();
    BootstrapExchange(const BootstrapExchange&) = delete;
    BootstrapExchange& operator=(const BootstrapExchange&) = delete;

    // `comm`: the hidden communicator of all processes of the job, which the caller makes and destroys.
    void open(Communicator& comm) noexcept;
    // The messages of those that have left, without waiting for them (refusals), are out. May block.
    void flush() noexcept;
    // Keeps what has arrived for another life. Nobody meets any more.
    void close() noexcept;

private:
    friend class ExchangeReduction;
    struct Outgoing {
        Request* request;
        std::vector<std::byte> bytes;
        ExchangeReduction* sender; // nullptr: it does not wait for it any more
    };

    // *store: on which the members of `group` may ask; null: some are on other nodes. Returns an MPI code.
    int find_store(const Group& group, NodeStore** store);
    int enter(ExchangeReduction& participant);
    void take_kept_messages();
    void leave(ExchangeReduction& participant) noexcept;
    int send(ExchangeReduction& sender, std::uint32_t job_rank, std::vector<std::byte> message);
    void keep_for_later(const std::byte* message, std::size_t size) noexcept;

    static int poll(void* context) noexcept;
    int look() noexcept;
    int listen() noexcept;
    void take_in(std::vector<std::byte> message);
    int reap() noexcept; // returns how many are out

    Instance& _instance;
    Communicator* _comm = nullptr;
    std::mutex _mutex; // all below; never held during a call to the pml
    std::list<ExchangeReduction*> _participants;
    std::vector<std::vector<std::byte>> _waiting; // messages to meetings that nobody here has come to
    std::list<Outgoing> _outgoing;
    std::unique_ptr<std::byte[]> _buffer; // not initialised: what no message needs is never touched
    std::size_t _longest = 0;             // message there can be
    Request* _listening = nullptr;
    bool _looking = false;
    PollerHandle _poller;
    std::unique_ptr<NodeStore> _store; // null until it is needed
};

} // namespace patchbay
