// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"

namespace patchbay::threads {

// The pml of communicators whose ranks are threads. It stands over the selected one: messages between threads of one
// process go through the engines of these threads (engine.h), all others through the carrier (carrier.h). It has no
// state: that is in the views of the communicators (view.h). Each function is called by the thread that the
// communicator belongs to.
class ThreadPml final : public pml::Module {
public:
    explicit ThreadPml(pml::Module& below) noexcept
        : _below(below) {}

    // The view is pml_data already.
    int add_comm(Communicator& comm) noexcept override;
    void remove_comm(Communicator& comm) noexcept override;
    // No member constructs a communicator without the others.
    void refuse(const Communicator&, const cid::ExtendedId&, int) noexcept override {}
    std::string_view failure_text(const Communicator&, int) noexcept override { return {}; }

    int send(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, pml::SendMode mode,
        Communicator& comm) noexcept override;
    int recv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        MPI_Status* status) noexcept override;
    int isend(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, pml::SendMode mode,
        Communicator& comm, Request** request) noexcept override;
    int irecv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        Request** request) noexcept override;
    int send_init(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, pml::SendMode mode,
        Communicator& comm, Request** request) noexcept override;
    int recv_init(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
        Request** request) noexcept override;

    int iprobe(int source, int tag, Communicator& comm, bool* found, MPI_Status* status) noexcept override;
    int improbe(
        int source, int tag, Communicator& comm, bool* found, Message** message, MPI_Status* status) noexcept override;
    int probe(int source, int tag, Communicator& comm, MPI_Status* status) noexcept override;
    int mprobe(int source, int tag, Communicator& comm, Message** message, MPI_Status* status) noexcept override;
    int mrecv(
        void* buffer, MPI_Count count, const Datatype& type, Message* message, MPI_Status* status) noexcept override;
    int imrecv(
        void* buffer, MPI_Count count, const Datatype& type, Message* message, Request** request) noexcept override;

    // A thread leaves only when its requests are complete.
    void drain() noexcept override {}
    void drain_communicator(const Communicator&) noexcept override {}
    void drain_session(const Session*) noexcept override {}
    std::vector<pml::EarlyMessage> take_early() noexcept override { return {}; }
    void accept_early(const pml::EarlyMessage&) noexcept override {}
    void peer_failed(ProcessId) noexcept override {}

    int max_tag() const noexcept override { return _below.max_tag(); }
    std::uint32_t max_index() const noexcept override { return _below.max_index(); }

private:
    pml::Module& _below; // whose limits hold
};

} // namespace patchbay::threads
