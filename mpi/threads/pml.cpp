// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/threads/pml.h"

#include "core/progress/poll_or_yield.h"
#include "core/progress/waiter.h"
#include "mpi/threads/engine.h"

#include <new>

namespace patchbay::threads {

namespace {

View& view_of(const Communicator& comm) noexcept {
    return *comm.view;
}

template <class MadeRequest>
int start(MadeRequest* made, Request** request) noexcept {
    if (made == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    made->hold();
    made->set_active();
    made->view.engine.start(*made);
    *request = made;
    return MPI_SUCCESS;
}

template <class MadeRequest>
int prepare(MadeRequest* made, Request** request) noexcept {
    if (made == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    made->persistent = true;
    made->hold();
    *request = made;
    return MPI_SUCCESS;
}

void show(const Unexpected& message, MPI_Status* status) noexcept {
    if (status != nullptr) {
        fill_status(*status, message.envelope.source, message.envelope.tag, message.envelope.bytes);
    }
}

int take(View& view, Unexpected& message, Message** out) noexcept {
    auto* matched = new (std::nothrow) MatchedMessage(view, message);
    if (matched == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    view.unexpected.erase(message);
    view.engine.count_request(1);
    *out = matched;
    return MPI_SUCCESS;
}

void end(MatchedMessage* matched) noexcept {
    matched->view.engine.count_request(-1);
    delete matched;
}

Unexpected* poll_for(View& view, int source, int tag) noexcept {
    Unexpected* message = view.find(source, tag);
    if (message == nullptr) {
        poll_or_yield(view.engine.progress());
        message = view.find(source, tag);
    }
    return message;
}

Unexpected* wait_for_message(View& view, int source, int tag) noexcept {
    Unexpected* message = nullptr;
    wait_until(view.engine.progress(), [&] { return (message = view.find(source, tag)) != nullptr; });
    return message;
}

int wait_for_receive(RecvRequest& request, MPI_Status* status) noexcept {
    wait_until(*request.progress, [&request] { return request.view.engine.look_for(request); });
    return_status(request.status, status);
    return request.result();
}

} // namespace

int ThreadPml::add_comm(Communicator& comm) noexcept {
    View& view = view_of(comm);
    return view.engine.add(view) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void ThreadPml::remove_comm(Communicator& comm) noexcept {
    View* view = comm.view;
    view->engine.remove(*view);
    comm.view = nullptr;
    comm.pml_data = nullptr;
    delete view;
}

int ThreadPml::send(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, pml::SendMode mode,
    Communicator& comm) noexcept {
    View& view = view_of(comm);
    return view.engine.send({view, buffer, count, type, dest, tag, mode});
}

int ThreadPml::recv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
    MPI_Status* status) noexcept {
    View& view = view_of(comm);
    if (view.engine.receive_next({view, buffer, count, type, source, tag}, status)) [[likely]] {
        return MPI_SUCCESS;
    }
    RecvRequest request(view, buffer, count, type, source, tag);
    request.set_active();
    view.engine.start(request);
    return wait_for_receive(request, status);
}

int ThreadPml::isend(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag, pml::SendMode mode,
    Communicator& comm, Request** request) noexcept {
    return start(new (std::nothrow) SendRequest(view_of(comm), buffer, count, type, dest, tag, mode), request);
}

int ThreadPml::irecv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
    Request** request) noexcept {
    return start(new (std::nothrow) RecvRequest(view_of(comm), buffer, count, type, source, tag), request);
}

int ThreadPml::send_init(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag,
    pml::SendMode mode, Communicator& comm, Request** request) noexcept {
    return prepare(new (std::nothrow) SendRequest(view_of(comm), buffer, count, type, dest, tag, mode), request);
}

int ThreadPml::recv_init(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
    Request** request) noexcept {
    return prepare(new (std::nothrow) RecvRequest(view_of(comm), buffer, count, type, source, tag), request);
}

int ThreadPml::iprobe(int source, int tag, Communicator& comm, bool* found, MPI_Status* status) noexcept {
    const Unexpected* message = poll_for(view_of(comm), source, tag);
    *found = message != nullptr;
    if (message != nullptr) {
        show(*message, status);
    }
    return MPI_SUCCESS;
}

int ThreadPml::improbe(
    int source, int tag, Communicator& comm, bool* found, Message** message, MPI_Status* status) noexcept {
    View& view = view_of(comm);
    Unexpected* unexpected = poll_for(view, source, tag);
    *found = false;
    if (unexpected == nullptr) {
        return MPI_SUCCESS;
    }
    show(*unexpected, status);
    const int code = take(view, *unexpected, message);
    *found = code == MPI_SUCCESS;
    return code;
}

int ThreadPml::probe(int source, int tag, Communicator& comm, MPI_Status* status) noexcept {
    show(*wait_for_message(view_of(comm), source, tag), status);
    return MPI_SUCCESS;
}

int ThreadPml::mprobe(int source, int tag, Communicator& comm, Message** message, MPI_Status* status) noexcept {
    View& view = view_of(comm);
    Unexpected* unexpected = wait_for_message(view, source, tag);
    show(*unexpected, status);
    return take(view, *unexpected, message);
}

int ThreadPml::mrecv(
    void* buffer, MPI_Count count, const Datatype& type, Message* message, MPI_Status* status) noexcept {
    auto* matched = static_cast<MatchedMessage*>(message);
    const Envelope& envelope = matched->unexpected.envelope;
    RecvRequest request(matched->view, buffer, count, type, envelope.source, envelope.tag);
    request.set_active();
    matched->view.engine.accept(request, matched->unexpected);
    end(matched);
    return wait_for_receive(request, status);
}

int ThreadPml::imrecv(
    void* buffer, MPI_Count count, const Datatype& type, Message* message, Request** request) noexcept {
    auto* matched = static_cast<MatchedMessage*>(message);
    const Envelope& envelope = matched->unexpected.envelope;
    auto* made = new (std::nothrow) RecvRequest(matched->view, buffer, count, type, envelope.source, envelope.tag);
    if (made == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    made->hold();
    made->set_active();
    made->view.engine.accept(*made, matched->unexpected);
    end(matched);
    *request = made;
    return MPI_SUCCESS;
}

} // namespace patchbay::threads
