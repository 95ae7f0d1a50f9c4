// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/bootstrap/exchange.h"

#include "core/base/out_of_memory.h"
#include "core/core.h"
#include "core/log.h"
#include "core/progress/waiter.h"
#include "core/runtime/runtime.h"
#include "mpi/bootstrap/exchange_reduction.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/process_state.h"
#include "object/error_cause.h"
#include "object/error_code.h"

#include <algorithm>
#include <cstring>

namespace patchbay {

namespace {

// The tag of all messages on the hidden communicator. One of the library's, so that it is no message of the program.
constexpr int bootstrap_tag = -3;
static_assert(bootstrap_tag != MPI_ANY_TAG);

const Datatype& byte_type() noexcept {
    return *to_object<Datatype>(MPI_BYTE);
}

// The size of the longest possible message in a job of this size.
constexpr std::size_t longest_message(std::size_t size) noexcept {
    return sizeof(BootstrapHeader) + cid::GroupReduction::most_words * sizeof(std::uint64_t) + MPI_MAX_STRINGTAG_LEN +
        longest_kind + longest_members(size);
}

} // namespace

BootstrapExchange::BootstrapExchange(Instance& instance)
    : _instance(instance),
      _own_nonce(instance.runtime().jobs().nonce_of(own_job)) {}

BootstrapExchange::~BootstrapExchange() {
    close();
}

void BootstrapExchange::open(Communicator& comm) noexcept {
    _comm = &comm;
    _longest = longest_message(std::size_t(comm.size));
}

int BootstrapExchange::find_store(const Group& group, NodeStore** store) {
    const Runtime& runtime = _instance.runtime();
    DecisionLog& decisions = _instance.core().decisions;
    *store = nullptr;
    for (int rank = 0; rank < group.size(); ++rank) {
        const ProcessId member = group.process(rank);
        if (member.job != own_job || !runtime.is_local(member)) {
            decisions.record("cid", "bootstrap exchange", "messages", Outcome::chosen, 0,
                "members are on several nodes or of several jobs");
            return MPI_SUCCESS;
        }
    }
    std::lock_guard lock(_mutex);
    if (_store == nullptr) {
        auto opened = NodeStore::open(*_instance.core().node);
        if (!opened) { // fails, because other members may have opened it, and would wait for this one
            return note_cause(opened.error());
        }
        _store = std::move(*opened);
        decisions.record(
            "cid", "bootstrap exchange", "node store", Outcome::chosen, 0, "members share the node's memory");
    }
    *store = _store.get();
    return MPI_SUCCESS;
}

std::string BootstrapExchange::store_key(const OperationKey& key) const {
    return key.bytes().append(reinterpret_cast<const char*>(&_own_nonce), sizeof _own_nonce);
}

int BootstrapExchange::join(ExchangeReduction& participant) {
    if (participant._group->has_other_jobs()) { // the hidden communicator is that of one job
        return note_cause(MPI_ERR_GROUP,
            "processes of several jobs have no communicator in common over which to agree on this one; component excid "
            "of framework cid needs none under the mpirun of this library");
    }
    bool receive_posted = false;
    {
        std::lock_guard lock(_mutex);
        if (!_poller) {
            _poller = _instance.progress().add_poller(&BootstrapExchange::poll, this);
        }
        _participants.push_back(&participant);
        take_kept_messages();
        std::erase_if(_undelivered, [&](const std::vector<std::byte>& message) {
            BootstrapMessage view;
            return BootstrapMessage::read(message, &view) && participant.deliver(message, view);
        });
        // The thread that has set _progressing may change _receive without the lock.
        receive_posted = _progressing || _receive != nullptr;
        _progressing = _progressing || !receive_posted;
    }
    if (receive_posted) {
        return MPI_SUCCESS;
    }
    const int code = post_receive();
    std::lock_guard lock(_mutex);
    _progressing = false;
    return code;
}

// Called with the lock held. The messages of an earlier instance are taken when there are no other undelivered ones.
void BootstrapExchange::take_kept_messages() {
    if (_undelivered.empty()) {
        _undelivered = _instance.process_state().take_bootstrap_messages();
    }
}

void BootstrapExchange::remove(ExchangeReduction& participant) noexcept {
    std::lock_guard lock(_mutex);
    _participants.remove(&participant);
    for (Outgoing& outgoing : _outgoing) {
        outgoing.sender = outgoing.sender == &participant ? nullptr : outgoing.sender;
    }
    if (_participants.empty() && _outgoing.empty()) {
        _poller.reset();
    }
}

int BootstrapExchange::send(ExchangeReduction& sender, ProcessId to, std::vector<std::byte> message) {
    const int rank = _comm->group->rank_of(to);
    std::list<Outgoing> node; // allocated before the send starts, because afterwards a failure could not be undone
    node.push_back({nullptr, std::move(message), &sender});
    Outgoing& outgoing = node.back();
    const int code = _comm->pml->isend(outgoing.bytes.data(), MPI_Count(outgoing.bytes.size()), byte_type(), rank,
        bootstrap_tag, pml::SendMode::standard, *_comm, &outgoing.request);
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (outgoing.request->is_complete()) {
        const int sent = outgoing.request->error;
        outgoing.request->recycle();
        return sent;
    }
    std::lock_guard lock(_mutex);
    sender._pending_sends.fetch_add(1, std::memory_order_relaxed);
    _outgoing.splice(_outgoing.end(), node);
    return MPI_SUCCESS;
}

int BootstrapExchange::poll(void* context) noexcept {
    return static_cast<BootstrapExchange*>(context)->progress();
}

// One thread at a time runs this; sending a message may poll recursively.
int BootstrapExchange::progress() noexcept {
    {
        std::lock_guard lock(_mutex);
        if (_progressing) {
            return 0;
        }
        _progressing = true;
    }
    int events = 0;
    // If memory is exhausted, the message stays in the buffer, or no receive is posted, until a later poll.
    while (_receive != nullptr ? _receive->is_complete() : post_receive() == MPI_SUCCESS) {
        if (!_receive->is_complete()) {
            break;
        }
        const std::size_t size = status_bytes(_receive->status);
        const bool taken = unless_out_of_memory(false, [&] {
            deliver({_buffer.get(), _buffer.get() + size});
            return true;
        });
        if (!taken) {
            break;
        }
        _receive->recycle();
        _receive = nullptr;
        ++events;
    }
    std::lock_guard lock(_mutex);
    events += complete_sends(); // counted as events, because a thread that waits for them may sleep
    _progressing = false;
    if (_participants.empty() && _outgoing.empty()) {
        _poller.reset();
    }
    return events;
}

int BootstrapExchange::post_receive() noexcept {
    if (_buffer == nullptr) {
        _buffer.reset(new (std::nothrow) std::byte[_longest]);
    }
    if (_buffer == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    return _comm->pml->irecv(
        _buffer.get(), MPI_Count(_longest), byte_type(), MPI_ANY_SOURCE, bootstrap_tag, *_comm, &_receive);
}

void BootstrapExchange::deliver(std::vector<std::byte> message) {
    BootstrapMessage view;
    if (!BootstrapMessage::read(message, &view)) {
        return;
    }
    std::lock_guard lock(_mutex);
    for (ExchangeReduction* participant : _participants) {
        if (participant->deliver(message, view)) {
            return;
        }
    }
    _undelivered.push_back(std::move(message));
}

int BootstrapExchange::complete_sends() noexcept {
    return int(std::erase_if(_outgoing, [](Outgoing& outgoing) {
        if (!outgoing.request->is_complete()) {
            return false;
        }
        outgoing.request->recycle();
        if (outgoing.sender != nullptr) {
            outgoing.sender->_pending_sends.fetch_sub(1, std::memory_order_release);
        }
        return true;
    }));
}

void BootstrapExchange::flush() noexcept {
    wait_until(_instance.progress(), [this] {
        std::lock_guard lock(_mutex);
        return std::ranges::none_of(_outgoing, [](const Outgoing& message) { return message.sender == nullptr; });
    });
}

void BootstrapExchange::keep_message(const std::byte* message, std::size_t size) noexcept {
    const bool kept = unless_out_of_memory(false, [&] {
        _undelivered.emplace_back(message, message + size);
        return true;
    });
    if (!kept) {
        log_error(
            "bootstrap exchange: out of memory for a message that arrived before this process joined its reduction");
    }
}

void BootstrapExchange::close() noexcept {
    if (_comm == nullptr) {
        return;
    }
    _poller.reset();
    if (_receive != nullptr) {
        _receive->cancel();
        // A long message may have begun to arrive. Its sender still waits for the rendezvous, so that it will complete.
        wait_until(_instance.progress(), [this] { return _receive->is_complete(); });
        if (!status_cancelled(_receive->status)) {
            keep_message(_buffer.get(), status_bytes(_receive->status));
        }
        _receive->recycle();
        _receive = nullptr;
    }
    for (;;) {
        bool found = false;
        Message* matched = nullptr;
        MPI_Status status;
        if (_comm->pml->improbe(MPI_ANY_SOURCE, bootstrap_tag, *_comm, &found, &matched, &status) != MPI_SUCCESS ||
            !found) {
            break;
        }
        if (_buffer == nullptr) {
            _buffer.reset(new (std::nothrow) std::byte[_longest]);
        }
        if (_comm->pml->mrecv(_buffer.get(), _buffer != nullptr ? MPI_Count(_longest) : 0, byte_type(), matched,
                nullptr) == MPI_SUCCESS) {
            keep_message(_buffer.get(), status_bytes(status));
        }
    }
    _instance.process_state().keep_bootstrap_messages(std::move(_undelivered));
    _undelivered.clear();
    complete_sends();
    _comm = nullptr; // destroyed with the other communicators
}

} // namespace patchbay
