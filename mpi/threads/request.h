// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/list.h"
#include "frameworks/pml/pml.h"
#include "mpi/threads/message.h"
#include "mpi/threads/shared_copy.h"
#include "object/error_cause.h"
#include "object/request.h"

#include <cstddef>
#include <memory>

namespace patchbay::threads {

class Engine;
class View;

// A message that is to be sent.
struct Outgoing {
    View& view;
    const void* buffer;
    MPI_Count count;
    const Datatype& type;
    int dest;
    int tag;
    pml::SendMode mode;

    std::size_t bytes() const noexcept { return std::size_t(count) * std::size_t(type.size); }
};

// A message that is to be received.
struct Incoming {
    View& view;
    void* buffer;
    MPI_Count count;
    const Datatype& type;
    int source;
    int tag;
};

// What sends and receives have in common. A request belongs to the thread that made it: only its engine completes it,
// in a poll of that thread's Progress.
class ThreadRequest : public Request {
public:
    ThreadRequest(View& view, const Datatype& type) noexcept;

    // Takes references to the datatype and the communicator, for a request that outlives the call.
    void hold() noexcept;
    std::int32_t references_to_comm() const noexcept override { return _holding && !comm->is_predefined() ? 1 : 0; }
    using Request::set_active;
    // The engine has taken the result of the transfer with another process.
    virtual void end_transfer() noexcept { complete(); }

    // The transfer with another process that this request waits for; nullptr: none.
    Request* inner = nullptr;
    int payload_tag = 0;      // of a send that has such a transfer: the tag of it
    bool withdrawing = false; // that one: the receiver has been asked to drop the message, and has not answered
    View& view;

protected:
    int retire() noexcept override;

private:
    const Datatype& _held_type;
    bool _holding = false;
};

class SendRequest final : public ThreadRequest {
public:
    SendRequest(View& view, const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag,
        pml::SendMode mode) noexcept
        : ThreadRequest(view, type),
          message{view, buffer, count, type, dest, tag, mode} {}

    int start() noexcept override;
    int cancel() noexcept override;
    bool bound(pml::PersistentRequest* what) const noexcept override;
    void prepare_release() noexcept override;
    void end_transfer() noexcept override { end(); }
    // The receiver has received or dropped the message.
    void end() noexcept;

    const Outgoing message;
    std::unique_ptr<std::byte[]> copy_of_payload; // of one that stands for a buffered send; `message` refers to it
    bool queued = false;                          // in the backlog of the engine
    bool at_receiver = false;                     // a rendezvous that the receiver has not completed
    bool cancelling = false; // the same: in the backlog until the receiver can be asked to drop the message
    bool cancelled = false;  // no receive has got the message: known before the request is complete
    bool freed = false;      // by the program, while it was active
    SharedCopy copy;         // of a rendezvous
    Link<SendRequest> backlog_link;
    SendRequest* next_completed = nullptr;

protected:
    int retire() noexcept override;

private:
    void check() noexcept override { copy.help(); }
};

class RecvRequest final : public ThreadRequest {
public:
    RecvRequest(View& view, void* buffer, MPI_Count count, const Datatype& type, int source, int tag) noexcept
        : ThreadRequest(view, type),
          buffer(buffer),
          count(count),
          type(type),
          source(source),
          tag(tag) {}

    int start() noexcept override;
    int cancel() noexcept override;
    bool bound(pml::PersistentRequest* what) const noexcept override;

    std::string_view cause() const noexcept override { return error == MPI_ERR_TRUNCATE ? noted_cause(result()) : ""; }
    // The code with which the receive has ended. Its cause is noted, if the message is longer than the buffer.
    int result() const noexcept {
        return error != MPI_ERR_TRUNCATE
            ? error
            : note_truncation(status, sent, std::uint64_t(count) * std::uint64_t(type.size));
    }
    void truncate(std::uint64_t length, std::uint64_t room) noexcept {
        error = MPI_ERR_TRUNCATE;
        sent = length;
        set_status_bytes(status, room);
    }

    bool accepts(const Envelope& envelope) const noexcept { return matches(source, tag, envelope); }

    void* const buffer;
    const MPI_Count count;
    const Datatype& type;
    const int source;
    const int tag;
    bool posted = false;
    Link<RecvRequest> posted_link;
    std::uint64_t sent = 0; // of MPI_ERR_TRUNCATE: the bytes of the message
};

// A message that no receive has matched yet.
struct Unexpected {
    Envelope envelope;
    Link<Unexpected> link;
};

class MatchedMessage final : public Message {
public:
    MatchedMessage(View& view, Unexpected& unexpected) noexcept;
    ~MatchedMessage() = default;
    View& view;
    Unexpected& unexpected;
};

} // namespace patchbay::threads
