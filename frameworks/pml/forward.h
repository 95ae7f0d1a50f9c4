// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"

#include <utility>

namespace [[gnu::visibility("default")]] patchbay {
namespace pml {

// A module that stands before another one and passes every call on (Component::wrap). An interposer derives from it and
// overrides what it observes or changes. The requests are those of the wrapped module: what happens to them afterwards
// (MPI_Start, MPI_Cancel) does not pass through here.
class Forward : public Module {
public:
    explicit Forward(std::unique_ptr<Module> wrapped) noexcept
        : _wrapped(std::move(wrapped)) {}

    int add_comm(Communicator& comm) noexcept override { return _wrapped->add_comm(comm); }
    void remove_comm(Communicator& comm) noexcept override { _wrapped->remove_comm(comm); }
    void refuse(const Communicator& comm, const cid::ExtendedId& id, int code) noexcept override {
        _wrapped->refuse(comm, id, code);
    }
    std::string_view failure_text(const Communicator& comm, int code) noexcept override {
        return _wrapped->failure_text(comm, code);
    }
    std::size_t unfinished(const Communicator& comm, std::span<UnfinishedMessage> into) noexcept override {
        return _wrapped->unfinished(comm, into);
    }
    int send(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
        Communicator& comm) noexcept override {
        return _wrapped->send(buffer, count, type, dest, tag, mode, comm);
    }
    int recv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        MPI_Status* status) noexcept override {
        return _wrapped->recv(buffer, count, type, source, tag, comm, status);
    }
    int isend(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
        Communicator& comm, Request** request) noexcept override {
        return _wrapped->isend(buffer, count, type, dest, tag, mode, comm, request);
    }
    int irecv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        Request** request) noexcept override {
        return _wrapped->irecv(buffer, count, type, source, tag, comm, request);
    }
    int send_init(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, SendMode mode,
        Communicator& comm, Request** request) noexcept override {
        return _wrapped->send_init(buffer, count, type, dest, tag, mode, comm, request);
    }
    int recv_init(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        Request** request) noexcept override {
        return _wrapped->recv_init(buffer, count, type, source, tag, comm, request);
    }
    int iprobe(int source, int tag, Communicator& comm, bool* found, MPI_Status* status) noexcept override {
        return _wrapped->iprobe(source, tag, comm, found, status);
    }
    int improbe(
        int source, int tag, Communicator& comm, bool* found, Message** message, MPI_Status* status) noexcept override {
        return _wrapped->improbe(source, tag, comm, found, message, status);
    }
    int probe(int source, int tag, Communicator& comm, MPI_Status* status) noexcept override {
        return _wrapped->probe(source, tag, comm, status);
    }
    int mprobe(int source, int tag, Communicator& comm, Message** message, MPI_Status* status) noexcept override {
        return _wrapped->mprobe(source, tag, comm, message, status);
    }
    int mrecv(
        void* buffer, MPI_Count count, const Datatype& type, Message* message, MPI_Status* status) noexcept override {
        return _wrapped->mrecv(buffer, count, type, message, status);
    }
    int imrecv(
        void* buffer, MPI_Count count, const Datatype& type, Message* message, Request** request) noexcept override {
        return _wrapped->imrecv(buffer, count, type, message, request);
    }
    void drain() noexcept override { _wrapped->drain(); }
    void drain_communicator(const Communicator& comm) noexcept override { _wrapped->drain_communicator(comm); }
    void drain_session(const Session* session) noexcept override { _wrapped->drain_session(session); }
    std::vector<EarlyMessage> take_early() noexcept override { return _wrapped->take_early(); }
    void accept_early(const EarlyMessage& message) noexcept override { _wrapped->accept_early(message); }
    void peer_failed(ProcessId process) noexcept override { _wrapped->peer_failed(process); }
    int max_tag() const noexcept override { return _wrapped->max_tag(); }
    std::uint32_t max_index() const noexcept override { return _wrapped->max_index(); }

protected:
    Module& wrapped() const noexcept { return *_wrapped; }

private:
    std::unique_ptr<Module> _wrapped;
};

} // namespace pml
} // namespace patchbay
