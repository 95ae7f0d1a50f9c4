// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/comm_state.h"
#include "components/pml/ob1/headers.h"
#include "components/pml/ob1/peer.h"
#include "frameworks/pml/pml.h"
#include "object/convertor.h"

#include <cstddef>
#include <cstdint>
#include <new>

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

    // Takes references to the datatype and the communicator, for a request that outlives the call.
    void hold() noexcept;
    // Drops the references. Called without the module's lock, because it may destroy the communicator.
    void let_go() noexcept;
    // The operation has ended. The request may not exist any more afterwards, unless it is abandoned.
    void complete() noexcept {
        if (abandoned) [[unlikely]] {
            complete_abandoned();
            return;
        }
        set_state(Request::State::complete);
    }

    std::string_view cause() const noexcept override;

    std::byte* address() const noexcept { return static_cast<std::byte*>(buffer) + type->true_lower_bound; }

    Ob1& module;
    void* const buffer;
    const MPI_Count count;
    const Datatype* const type;
    const std::size_t bytes; // count * size of the type
    const int tag;
    bool holding = false;
    bool abandoned = false; // MPI_Request_free came before completion: destroyed afterwards
    Ob1Request* next_abandoned = nullptr;
    LateConvertor convertor;

private:
    void complete_abandoned() noexcept;
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
    void recycle() noexcept override;

    const int dest;
    const int source; // our rank
    const SendMode mode;
    bool queued = false;                  // in the queue of its peer
    bool cancel_pending = false;          // a cancel packet has been sent: the request must exist until its reply comes
    bool complete_but_for_cancel = false; // and is complete otherwise
    std::uint32_t id = 0;                 // as in the match header
    std::uint16_t index = 0;              // as in the match header
    bool extended = false;                // the match header is an extended one
    cid::ExtendedId excid;                // then; kept for a cancel, when the communicator may not exist any more
    Peer* peer = nullptr;
    bool in_progress = false; // in the list of SendProtocol: until it is complete and, if abandoned, has let go
    Link<SendRequest> in_progress_link;
    StreamLink stream{{}, this};
    std::uint64_t remote_request = 0; // of the receiver, once it has asked for a stream
    std::size_t stream_end = 0;
};

class RecvRequest final : public Ob1Request {
public:
    RecvRequest(Ob1& module, void* buffer, MPI_Count count, const Datatype& type, int source, int tag,
        Communicator& comm) noexcept
        : Ob1Request(module, buffer, count, type, tag, comm),
          source(source) {}

    int start() noexcept override;
    int cancel() noexcept override;
    void recycle() noexcept override;

    Link<RecvRequest> posted_link;
    Link<RecvRequest> fetch_link;
    const int source;
    bool posted = false;
    std::uint64_t order = 0; // number of posted receives before it in the communicator
    // Rendezvous:
    Peer* from = nullptr;
    std::uint64_t remote_request = 0;
    std::uint64_t remote_address = 0;
    std::size_t expected = 0; // bytes that are written into the buffer
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
