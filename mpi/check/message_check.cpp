// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/message_check.h"

#include "frameworks/pml/forward.h"
#include "mpi/check/checked_request.h"
#include "object/part_of_call.h"

#include <new>

namespace patchbay::check {

namespace {

// The messages of the library are passed on as they are: their tags are negative, and MPI_ANY_TAG does not match them,
// or they have a communicator of their own. With the check `types` each message of the program has its signature before
// the data (Envelope).
class CheckedMessages final : public pml::Forward {
public:
    CheckedMessages(const Checks& checks, std::shared_ptr<BufferCheck> buffers, Progress& progress,
        std::unique_ptr<pml::Module> wrapped) noexcept
        : Forward(std::move(wrapped)),
          _checks(checks),
          _progress(progress),
          _kept(std::move(buffers)),
          _buffers(*_kept) {}

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
    int iprobe(int source, int tag, Communicator& comm, bool* found, MPI_Status* status) noexcept override {
        const int code = wrapped().iprobe(source, tag, comm, found, status);
        return shortened(code, *found, tag, comm, status);
    }
    int improbe(
        int source, int tag, Communicator& comm, bool* found, Message** message, MPI_Status* status) noexcept override {
        const int code = wrapped().improbe(source, tag, comm, found, message, status);
        return shortened(code, *found, tag, comm, status);
    }
    int probe(int source, int tag, Communicator& comm, MPI_Status* status) noexcept override {
        return shortened(wrapped().probe(source, tag, comm, status), true, tag, comm, status);
    }
    int mprobe(int source, int tag, Communicator& comm, Message** message, MPI_Status* status) noexcept override {
        return shortened(wrapped().mprobe(source, tag, comm, message, status), true, tag, comm, status);
    }
    int mrecv(
        void* buffer, MPI_Count count, const Datatype& type, Message* message, MPI_Status* status) noexcept override;
    int imrecv(
        void* buffer, MPI_Count count, const Datatype& type, Message* message, Request** request) noexcept override;

private:
    int shortened(int code, bool found, int tag, const Communicator& comm, MPI_Status* status) const noexcept {
        if (_checks.types && code == MPI_SUCCESS && found && is_of_program(tag, comm) && status != nullptr) {
            Envelope::shorten(*status);
        }
        return code;
    }
    // Has `begin(buffer, count, type, &inner)` make the pml's request of a call.
    template <class Begin>
    int follow(const MessageCall& call, bool persistent, Request** request, Begin&& begin) noexcept {
        auto* made = new (std::nothrow) CheckedRequest(_checks, _buffers, _progress, call, persistent);
        if (made == nullptr) {
            return MPI_ERR_NO_MEM;
        }
        Request* inner = nullptr;
        int code = made->prepare();
        if (code == MPI_SUCCESS) {
            code = begin(made->buffer(), made->count(), made->type(), &inner);
        }
        if (code != MPI_SUCCESS) {
            made->drop();
            return code;
        }
        made->follow(*inner);
        *request = made;
        return MPI_SUCCESS;
    }
    // The same for a receive that blocks: `receive(buffer, count, type, &status)`.
    template <class Receive>
    int finish(const MessageCall& call, MPI_Status* status, Receive&& receive) noexcept {
        _buffers.look_at(call);
        if (!_checks.types) {
            return receive(call.buffer, call.count, *call.type, status);
        }
        Envelope envelope;
        if (const int code = envelope.prepare(call.buffer, call.count, *call.type); code != MPI_SUCCESS) {
            return code;
        }
        MPI_Status own;
        fill_empty_status(own);
        const int code = receive(MPI_BOTTOM, 1, envelope.type(), &own);
        Envelope::shorten(own);
        return_status(own, status);
        if (code == MPI_ERR_TRUNCATE) {
            Envelope::shorten_cause();
        }
        return code == MPI_SUCCESS ? compare_types(call, CallSite::here(), envelope.signature(), own) : code;
    }

    const Checks _checks;
    Progress& _progress;
    const std::shared_ptr<BufferCheck> _kept;
    BufferCheck& _buffers;
};

int CheckedMessages::send(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag,
    pml::SendMode mode, Communicator& comm) noexcept {
    if (!is_of_program(tag, comm)) {
        return wrapped().send(buffer, count, type, dest, tag, mode, comm);
    }
    _buffers.look_at({PartOfCall::function_or(name_of_send(mode, coll::Form::blocking)), const_cast<void*>(buffer),
        count, &type, dest, tag, mode, &comm});
    if (!_checks.types) {
        return wrapped().send(buffer, count, type, dest, tag, mode, comm);
    }
    Envelope envelope;
    const int code = envelope.seal(buffer, count, type);
    return code == MPI_SUCCESS ? wrapped().send(MPI_BOTTOM, 1, envelope.type(), dest, tag, mode, comm) : code;
}

int CheckedMessages::recv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
    MPI_Status* status) noexcept {
    const auto receive = [&](void* data, MPI_Count elements, const Datatype& as, MPI_Status* of) {
        return wrapped().recv(data, elements, as, source, tag, comm, of);
    };
    return is_of_program(tag, comm)
        ? finish({"MPI_Recv", buffer, count, &type, source, tag, {}, &comm}, status, receive)
        : receive(buffer, count, type, status);
}

int CheckedMessages::isend(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag,
    pml::SendMode mode, Communicator& comm, Request** request) noexcept {
    const auto begin = [&](const void* data, MPI_Count elements, const Datatype& as, Request** made) {
        return wrapped().isend(data, elements, as, dest, tag, mode, comm, made);
    };
    if (!is_of_program(tag, comm)) {
        return begin(buffer, count, type, request);
    }
    return follow({PartOfCall::function_or(name_of_send(mode, coll::Form::nonblocking)), const_cast<void*>(buffer),
                      count, &type, dest, tag, mode, &comm},
        false, request, begin);
}

int CheckedMessages::irecv(void* buffer, MPI_Count count, const Datatype& type, int source, int tag, Communicator& comm,
    Request** request) noexcept {
    const auto begin = [&](void* data, MPI_Count elements, const Datatype& as, Request** made) {
        return wrapped().irecv(data, elements, as, source, tag, comm, made);
    };
    return is_of_program(tag, comm)
        ? follow({PartOfCall::function_or("MPI_Irecv"), buffer, count, &type, source, tag, {}, &comm}, false, request,
              begin)
        : begin(buffer, count, type, request);
}

int CheckedMessages::send_init(const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag,
    pml::SendMode mode, Communicator& comm, Request** request) noexcept {
    const auto begin = [&](const void* data, MPI_Count elements, const Datatype& as, Request** made) {
        return wrapped().send_init(data, elements, as, dest, tag, mode, comm, made);
    };
    if (!is_of_program(tag, comm)) {
        return begin(buffer, count, type, request);
    }
    return follow(
        {name_of_send(mode, coll::Form::persistent), const_cast<void*>(buffer), count, &type, dest, tag, mode, &comm},
        true, request, begin);
}

int CheckedMessages::recv_init(void* buffer, MPI_Count count, const Datatype& type, int source, int tag,
    Communicator& comm, Request** request) noexcept {
    const auto begin = [&](void* data, MPI_Count elements, const Datatype& as, Request** made) {
        return wrapped().recv_init(data, elements, as, source, tag, comm, made);
    };
    return is_of_program(tag, comm)
        ? follow({"MPI_Recv_init", buffer, count, &type, source, tag, {}, &comm}, true, request, begin)
        : begin(buffer, count, type, request);
}

int CheckedMessages::mrecv(
    void* buffer, MPI_Count count, const Datatype& type, Message* message, MPI_Status* status) noexcept {
    const auto receive = [&](void* data, MPI_Count elements, const Datatype& as, MPI_Status* of) {
        return wrapped().mrecv(data, elements, as, message, of);
    };
    if (message->comm->of_library) {
        return receive(buffer, count, type, status);
    }
    return finish({"MPI_Mrecv", buffer, count, &type, MPI_ANY_SOURCE, MPI_ANY_TAG, {}, message->comm}, status, receive);
}

int CheckedMessages::imrecv(
    void* buffer, MPI_Count count, const Datatype& type, Message* message, Request** request) noexcept {
    const auto begin = [&](void* data, MPI_Count elements, const Datatype& as, Request** made) {
        return wrapped().imrecv(data, elements, as, message, made);
    };
    if (message->comm->of_library) {
        return begin(buffer, count, type, request);
    }
    return follow(
        {"MPI_Imrecv", buffer, count, &type, MPI_ANY_SOURCE, MPI_ANY_TAG, {}, message->comm}, false, request, begin);
}

} // namespace

void check_messages(const Checks& checks, std::shared_ptr<BufferCheck> buffers, Progress& progress,
    std::unique_ptr<pml::Module>& module) {
    void* const memory = ::operator new(sizeof(CheckedMessages));
    module.reset(::new (memory) CheckedMessages(checks, std::move(buffers), progress, std::move(module)));
}

} // namespace patchbay::check
