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

// A convertor that is made when a message turns out to need one: most do not.
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

// What both kinds of request have: buffer, type and who else must not go away meanwhile.
class Ob1Request : public Request {
public:
    Ob1Request(
        Ob1& module, const void* buffer, MPI_Count count, const Datatype& type, int tag, Communicator& comm) noexcept;

    // Keep the datatype and the communicator alive until recycle(): for requests that outlive the call.
    void hold() noexcept;
    // Gives them back; without the module's lock, because a communicator may die of it.
    void let_go() noexcept;

    std::byte* address() const noexcept { return static_cast<std::byte*>(buffer) + type->true_lower_bound; }

    Ob1& module;
    void* const buffer;
    const MPI_Count count;
    const Datatype* const type;
    const std::size_t bytes; // count * size of the type
    const int tag;
    bool holding = false;
    bool abandoned = false; // MPI_Request_free came first: gone at completion
    Ob1Request* next_abandoned = nullptr;
    LateConvertor convertor;
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
    bool queued = false;       // in its peer's `waiting`
    bool cancel_asked = false; // an answer to a cancel packet is on its way: nothing may free the request before
    bool done_but_for_answer = false;
    std::uint32_t id = 0;    // as in the match header
    std::uint16_t index = 0; // as in the match header
    bool by_excid = false;   // the match header is named_by_excid
    cid::ExtendedId excid;   // then, and kept for a cancel: the communicator may be gone by that time
    Peer* peer = nullptr;
    bool under_way = false; // and until an abandoned one has let go of its communicator
    Link<SendRequest> under_way_link;
    StreamLink stream{{}, this};
    std::uint64_t remote_request = 0; // of the receiver, once it asked for a stream
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
    std::uint64_t order = 0; // of posting, within the communicator
    // Rendezvous:
    Peer* from = nullptr;
    std::uint64_t remote_request = 0;
    std::uint64_t remote_address = 0;
    std::size_t expected = 0; // bytes that go into the buffer
};

// A message in the hands of a user (MPI-5.0, 3.8.2).
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
