// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/comm_state.h"
#include "components/pml/ob1/headers.h"
#include "components/pml/ob1/peer.h"
#include "frameworks/pml/pml.h"
#include "object/convertor.h"
#include "object/error_cause.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>

namespace patchbay::pml::ob1 {

class Ob1;

// A convertor that is constructed when a message needs one: most messages do not.
class LateConvertor {
public:
    Convertor& make(const Datatype& type, MPI_Count count, const void* buffer) noexcept {
        return *::new (static_cast<void*>(_memory)) Convertor(type, count, buffer);
    }
    Convertor& operator*() noexcept { return *std::launder(reinterpret_cast<Convertor*>(_memory)); }
    Convertor* operator->() noexcept { return &**this; }

private:
    alignas(Convertor) std::byte _memory[sizeof(Convertor)];
};

// What both kinds of request have in common: the buffer, and references to the datatype and the communicator.
class Ob1Request : public Request {
public:
    Ob1Request(
        Ob1& module, const void* buffer, MPI_Count count, const Datatype& type, int tag, Communicator& comm) noexcept;

    // Takes references to the datatype and the communicator, for a request that outlives the call. Called with the
    // module's lock held. Each thread that uses a communicator has passed the thread-level upgrade, so that its count
    // needs no locked instruction before; a datatype may be used by other threads too.
    void hold() noexcept;
    // Drops the references. Called without the module's lock, because it may destroy the communicator.
    void let_go() noexcept {
        if (holding) {
            drop();
        }
    }
    bool bound(pml::PersistentRequest* what) const noexcept override;
    std::int32_t references_to_comm() const noexcept override { return holding && holds_comm && !counted ? 1 : 0; }
    // For the parts of the module, which run the operation: complete() ends it, under the module's lock.
    bool complete() noexcept {
        count_complete();
        return Request::complete();
    }
    // A reference of a complete request is one for which no communication is pending.
    void count_complete() noexcept {
        if (holding && holds_comm && !persistent) {
            counted = true;
            comm->add_complete_reference(progress->threaded());
        }
    }
    // A complete request is active again.
    void uncount_complete() noexcept {
        if (counted) {
            counted = false;
            comm->remove_complete_reference(progress->threaded());
        }
    }
    using Request::set_active;
    using Request::set_complete;

    std::string_view cause() const noexcept override;

    std::byte* address() const noexcept { return static_cast<std::byte*>(buffer) + type->true_lower_bound; }

    Ob1& module;
    void* buffer;
    MPI_Count count;
    const Datatype* type;
    std::size_t bytes; // count * size of the type
    int tag;
    bool holding = false;
    bool holds_comm = false; // holding a reference to the communicator, which is none of the predefined ones
    bool counted = false;    // among the communicator's complete references
    LateConvertor convertor;

private:
    void drop() noexcept;
    // The rank of the other process, and for a send its mode.
    virtual int bound_peer() const noexcept = 0;
    virtual std::optional<SendMode> bound_mode() const noexcept = 0;
};

class SendRequest final : public Ob1Request {
public:
    SendRequest(Ob1& module, const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag,
        SendMode mode, Communicator& comm) noexcept
        : Ob1Request(module, buffer, count, type, tag, comm),
          dest(dest),
          source(comm.rank),
          mode(mode) {}

    int start() noexcept override;
    int cancel() noexcept override;
    std::string_view cause() const noexcept override;

    // A request that is `clean`, and therefore complete, gets another message, which `header` sends to `to`.
    void reuse(const MatchWords& header, Peer& to, const void* new_buffer, MPI_Count new_count,
        const Datatype& new_type, int new_dest, Communicator& on) noexcept {
        set_kind(ObjectKind::request);
        words = header;
        peer = &to;
        buffer = const_cast<void*>(new_buffer);
        count = new_count;
        type = &new_type;
        dest = new_dest;
        comm = &on;
        session = on.session;
    }
    // Something else happens to the request than to be used again: it gets the fields that reuse() has left out.
    void end_clean() noexcept {
        if (!clean) {
            return;
        }
        clean = false;
        MatchHeader header;
        std::memcpy(&header, &words, sizeof header);
        source = header.source;
        tag = header.tag;
        id = header.id;
        index = header.index;
    }
    void mark_free() noexcept { set_kind(ObjectKind::dead); }

    int dest;
    int source; // our rank
    SendMode mode;
    bool queued = false;                  // in the queue of its peer
    bool cancel_pending = false;          // a cancel packet has been sent: the request must exist until its reply comes
    bool complete_but_for_cancel = false; // and is complete otherwise
    std::uint8_t polls_without_answer = 0; // at whose end the library of the receiver had ended
    std::uint64_t cancel_number = 0;       // of the cancel packet
    std::uint32_t id = 0;                  // as in the match header
    std::uint16_t index = 0;               // as in the match header
    bool extended = false;                 // the match header is an extended one
    // It was complete as soon as it was started, and nothing else has happened to it: reuse() is enough to use it
    // again, which sets neither `bytes` nor what `words` contains.
    bool clean = false;
    MatchWords words; // then: its match header
    SendRequest* next_clean = nullptr;
    cid::ExtendedId excid; // then; kept for a cancel, when the communicator may not exist any more
    Peer* peer = nullptr;
    // Of a persistent request: its last start was complete at once, by an eager message to this destination, and
    // nothing else has happened to it. If the destination has a peer, the next start needs a new id, and the peer's
    // permission.
    const RankState* direct = nullptr;
    const std::byte* data = nullptr; // then: its address()
    bool in_progress = false; // in the list of SendProtocol: until it is complete and, if released before, retired
    Link<SendRequest> in_progress_link;
    StreamLink stream{{}, this};
    std::uint64_t remote_request = 0; // of the receiver, once it has asked for a stream
    std::size_t stream_end = 0;

private:
    int retire() noexcept override;
    int bound_peer() const noexcept override { return dest; }
    std::optional<SendMode> bound_mode() const noexcept override { return mode; }
};

class RecvRequest final : public Ob1Request {
public:
    RecvRequest(Ob1& module, void* buffer, MPI_Count count, const Datatype& type, int source, int tag,
        Communicator& comm) noexcept
        : Ob1Request(module, buffer, count, type, tag, comm),
          source(source) {}

    int start() noexcept override;
    int cancel() noexcept override;
    std::string_view cause() const noexcept override;
    // The code with which the receive has ended. Its cause is noted, if the message is longer than the buffer.
    int result() const noexcept { return error != MPI_ERR_TRUNCATE ? error : note_truncation(status, sent, bytes); }
    void truncate(std::uint64_t length) noexcept {
        error = MPI_ERR_TRUNCATE;
        sent = length;
    }

    Link<RecvRequest> posted_link;
    Link<RecvRequest> transfer_link; // in a list of Rendezvous
    const int source;
    bool posted = false;
    std::uint64_t order = 0; // number of posted receives before it in the communicator
    std::uint64_t sent = 0;  // of MPI_ERR_TRUNCATE: the bytes of the message
    // Rendezvous:
    Peer* from = nullptr;
    std::uint64_t remote_request = 0;
    std::uint64_t remote_address = 0;
    std::size_t expected = 0;         // bytes that are written into the buffer
    bool resumes = false;             // TransferChoice::Next
    std::size_t fetch_end = 0;        // where the part ends that this process fetches
    std::size_t put_end = 0;          // and the part behind it that the sender writes; the same: there is none
    TransferChoice::Time timed_since; // when the transfer began, if Peer::choice times it, otherwise the epoch

private:
    int retire() noexcept override;
    int bound_peer() const noexcept override { return source; }
    std::optional<SendMode> bound_mode() const noexcept override { return std::nullopt; }
};

// The request object that a packet refers to.
template <class T>
T* request_at(std::uint64_t address) noexcept {
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

// The message of an MPI_Message handle (MPI-5.0, 3.8.2).
class MatchedMessage final : public Message {
public:
    MatchedMessage(Communicator& communicator, Unexpected& unexpected) noexcept
        : unexpected(unexpected) {
        comm = &communicator;
    }
    ~MatchedMessage() = default;
    Unexpected& unexpected;
};

} // namespace patchbay::pml::ob1
