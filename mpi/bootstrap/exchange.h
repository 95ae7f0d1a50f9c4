// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/memory/node_store.h"
#include "core/progress/progress.h"
#include "mpi/bootstrap/message.h"
#include "object/request.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Group;
class Instance;
class ExchangeReduction;

// Messages between processes that have no communicator in common yet, on a hidden communicator of the whole job. A
// message contains the key of the reduction that it belongs to, so that any number of reductions can be under way at
// one time. A message for a reduction that this process has not joined yet is kept here, and in the process state where
// the instance is destroyed meanwhile. The processes of one node also share a node store. Nothing is allocated until
// the first reduction. Thread-safe.
class BootstrapExchange {
public:
    // After the start of the runtime.
    explicit BootstrapExchange(Instance& instance);
    ~BootstrapExchange();
    BootstrapExchange(const BootstrapExchange&) = delete;
    BootstrapExchange& operator=(const BootstrapExchange&) = delete;

    // `comm` is the hidden communicator of all processes of the job, which the caller constructs and destroys.
    void open(Communicator& comm) noexcept;
    // Waits until the messages of reductions that have been destroyed (refusals) are sent.
    void flush() noexcept;
    // Keeps the messages that have arrived for a later instance. There must be no reduction any more.
    void close() noexcept;

private:
    friend class ExchangeReduction;
    struct Outgoing {
        Request* request;
        std::vector<std::byte> bytes;
        ExchangeReduction* sender; // nullptr: it has been destroyed
    };

    // *store is the node store, or null if members of `group` are on several nodes. Returns an MPI code.
    int find_store(const Group& group, NodeStore** store);
    // The key of an operation of processes of the own job in the node store, which processes of other jobs use, too.
    std::string store_key(const OperationKey& key) const;
    int join(ExchangeReduction& participant);
    void take_kept_messages();
    void remove(ExchangeReduction& participant) noexcept;
    int send(ExchangeReduction& sender, ProcessId to, std::vector<std::byte> message);
    void keep_message(const std::byte* message, std::size_t size) noexcept;

    static int poll(void* context) noexcept;
    int progress() noexcept;
    int post_receive() noexcept;
    void deliver(std::vector<std::byte> message);
    int complete_sends() noexcept; // returns the number of completed messages

    Instance& _instance;
    const std::uint64_t _own_nonce; // of the own job
    Communicator* _comm = nullptr;
    std::mutex _mutex; // protects the members below; never held during a call of the pml
    std::list<ExchangeReduction*> _participants;
    std::vector<std::vector<std::byte>> _undelivered; // messages for reductions that this process has not joined
    std::list<Outgoing> _outgoing;
    std::unique_ptr<std::byte[]> _buffer; // not initialised, so that pages without a message take no memory
    std::size_t _longest = 0;             // bytes of the longest possible message
    Request* _receive = nullptr;
    bool _progressing = false;
    PollerHandle _poller;
    std::unique_ptr<NodeStore> _store; // null until the first reduction on this node
};

} // namespace patchbay
