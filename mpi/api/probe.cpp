// SPDX-License-Identifier: BSD-3-Clause
// Probes and matched messages (MPI-5.0, 3.8.1 to 3.8.3).
#include "mpi/api/initialized.h"
#include "mpi/api/message_args.h"
#include "mpi/library/library.h"

#include <utility>

namespace patchbay::api {

namespace {

// A matched message can be received when its communicator has been freed (MPI-5.0, 7.4.3), and is one of its pending
// operations until then: its handle has a reference.
MPI_Message handle_of(Message* message) noexcept {
    if (!message->comm->is_predefined()) {
        message->comm->retain();
    }
    return to_handle<Message>(message);
}
Ref<Communicator> reference_of(const Message& message) noexcept {
    return message.comm->is_predefined() ? Ref<Communicator>() : Ref<Communicator>::adopt(message.comm);
}

// Another thread may free the communicator while this one waits. Predefined ones are not counted.
Ref<Communicator> keep_while_waiting(Communicator& comm) noexcept {
    const bool counts = comm.instance->progress().threaded() && !comm.is_predefined() && comm.view == nullptr;
    return counts ? Ref<Communicator>::share(&comm) : Ref<Communicator>();
}

bool probe_args(Arguments& args, int source, int tag) noexcept {
    return args.communicator() && args.source("source", source) && args.receive_tag("tag", tag);
}

int probe(int source, int tag, MPI_Comm comm, MPI_Status* status) noexcept {
    Arguments args("MPI_Probe", comm);
    if (checking() && !probe_args(args, source, tag)) {
        return args.code();
    }
    if (source == MPI_PROC_NULL) {
        return_proc_null(status);
        return MPI_SUCCESS;
    }
    const Ref<Communicator> kept = keep_while_waiting(*args.comm());
    return args.result(args.comm()->pml->probe(source, tag, *args.comm(), status));
}

int iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) noexcept {
    Arguments args("MPI_Iprobe", comm);
    if (checking() && !(probe_args(args, source, tag) && args.pointer("flag", flag))) {
        return args.code();
    }
    if (source == MPI_PROC_NULL) {
        *flag = 1;
        return_proc_null(status);
        return MPI_SUCCESS;
    }
    bool found = false;
    const int code = args.comm()->pml->iprobe(source, tag, *args.comm(), &found, status);
    *flag = found;
    return args.result(code);
}

int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* handle, MPI_Status* status) noexcept {
    Arguments args("MPI_Mprobe", comm);
    if (checking() && !(probe_args(args, source, tag) && args.pointer("message", handle))) {
        return args.code();
    }
    if (source == MPI_PROC_NULL) {
        *handle = MPI_MESSAGE_NO_PROC;
        return_proc_null(status);
        return MPI_SUCCESS;
    }
    const Ref<Communicator> kept = keep_while_waiting(*args.comm());
    Message* message = nullptr;
    const int code = args.comm()->pml->mprobe(source, tag, *args.comm(), &message, status);
    *handle = code == MPI_SUCCESS ? handle_of(message) : MPI_MESSAGE_NULL;
    return args.result(code);
}

int improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* handle, MPI_Status* status) noexcept {
    Arguments args("MPI_Improbe", comm);
    if (checking() &&
        !(probe_args(args, source, tag) && args.pointer("flag", flag) && args.pointer("message", handle))) {
        return args.code();
    }
    if (source == MPI_PROC_NULL) {
        *flag = 1;
        *handle = MPI_MESSAGE_NO_PROC;
        return_proc_null(status);
        return MPI_SUCCESS;
    }
    bool found = false;
    Message* message = nullptr;
    const int code = args.comm()->pml->improbe(source, tag, *args.comm(), &found, &message, status);
    *flag = found;
    *handle = found ? handle_of(message) : MPI_MESSAGE_NULL;
    return args.result(code);
}

// The message refers to the communicator, so that it is checked first.
bool message_args(
    Arguments& args, const void* buf, MPI_Count count, MPI_Datatype type, const MPI_Message* handle) noexcept {
    return args.pointer("message", handle) &&
        (*handle == MPI_MESSAGE_NO_PROC || args.valid<Message>(MPI_ERR_REQUEST, "message", *handle)) &&
        args.count("count", count) && args.datatype("datatype", type) && args.buffer("buf", buf, count, type);
}

int mrecv(const char* function, void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* handle,
    MPI_Status* status) noexcept {
    Arguments args(function, Arguments::Pending());
    if (checking() && !(args.permitted() && message_args(args, buf, count, type, handle))) {
        return args.code();
    }
    const MPI_Message received = std::exchange(*handle, MPI_MESSAGE_NULL);
    if (received == MPI_MESSAGE_NO_PROC) {
        return_proc_null(status);
        return MPI_SUCCESS;
    }
    Message* message = to_object<Message>(received);
    Communicator& comm = *message->comm;
    const Ref<Communicator> held = reference_of(*message);
    const int code = comm.pml->mrecv(buf, count, type_of(type), message, status);
    return code == MPI_SUCCESS ? code : report(ErrorTarget(&comm), function, code, {});
}

int imrecv(const char* function, void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* handle,
    MPI_Request* request_handle) noexcept {
    Arguments args(function, Arguments::Pending());
    if (checking() &&
        !(args.permitted() && message_args(args, buf, count, type, handle) &&
            args.pointer("request", request_handle))) {
        return args.code();
    }
    const MPI_Message received = std::exchange(*handle, MPI_MESSAGE_NULL);
    if (received == MPI_MESSAGE_NO_PROC) {
        int code = MPI_SUCCESS;
        Instance* instance = initialized(args, &code); // MPI_MESSAGE_NO_PROC has no communicator
        if (instance == nullptr) {
            return code;
        }
        MPI_Status status{};
        fill_proc_null_status(status);
        const Request* request = new (std::nothrow) ImmediateRequest(instance->progress(), status);
        return give(args, request != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM, request, request_handle);
    }
    Message* message = to_object<Message>(received);
    Communicator& comm = *message->comm;
    const Ref<Communicator> held = reference_of(*message);
    Request* request = nullptr;
    const int code = comm.pml->imrecv(buf, count, type_of(type), message, &request);
    if (code != MPI_SUCCESS) {
        *request_handle = MPI_REQUEST_NULL;
        return report(ErrorTarget(&comm), function, code, {});
    }
    *request_handle = to_handle<Request>(request);
    return MPI_SUCCESS;
}

} // namespace

} // namespace patchbay::api

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
    return patchbay::api::probe(source, tag, comm, status);
}
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    return patchbay::api::iprobe(source, tag, comm, flag, status);
}
int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    return patchbay::api::mprobe(source, tag, comm, message, status);
}
int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
    return patchbay::api::improbe(source, tag, comm, flag, message, status);
}
int PMPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
    return patchbay::api::mrecv("MPI_Mrecv", buf, count, datatype, message, status);
}
int PMPI_Mrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
    return patchbay::api::mrecv("MPI_Mrecv_c", buf, count, datatype, message, status);
}
int PMPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request) {
    return patchbay::api::imrecv("MPI_Imrecv", buf, count, datatype, message, request);
}
int PMPI_Imrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request) {
    return patchbay::api::imrecv("MPI_Imrecv_c", buf, count, datatype, message, request);
}
