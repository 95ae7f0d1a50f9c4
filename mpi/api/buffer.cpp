// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends and their buffers (MPI-5.0, 3.4 and 3.6).
#include "mpi/api/initialized.h"
#include "mpi/api/message_args.h"
#include "mpi/instance/send_buffer.h"
#include "mpi/library/library.h"
#include "object/session.h"

#include <limits>
#include <memory>

namespace patchbay::api {

namespace {

// Of a rank that is a thread: the library copies the message to memory of its own, but as for any buffered send a
// buffer must be attached.
int no_buffer_for_thread(const Arguments& args) noexcept {
    return SendBuffer::find(*args.comm()) != nullptr ? MPI_SUCCESS
                                                     : args.fail(MPI_ERR_BUFFER, SendBuffer::none_attached);
}

int bsend(const char* function, const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
    MPI_Comm comm) noexcept {
    Arguments args(function, comm);
    if (checking() && !send_args(args, buf, count, type, dest, tag)) {
        return args.code();
    }
    if (dest == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    if (Communicator& comm_of_thread = *args.comm(); comm_of_thread.view != nullptr) {
        const int missing = no_buffer_for_thread(args);
        return missing != MPI_SUCCESS ? missing
                                      : args.result(comm_of_thread.pml->send(buf, count, type_of(type), dest, tag,
                                            pml::SendMode::buffered, comm_of_thread));
    }
    std::shared_ptr<SendBuffer> used;
    const int code = SendBuffer::send(buf, count, type_of(type), dest, tag, *args.comm(), &used, nullptr);
    return args.result(code);
}

int buffered_request(const char* function, const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
    MPI_Comm comm, bool persistent, MPI_Request* handle) noexcept {
    Arguments args(function, comm);
    if (checking() && !(send_args(args, buf, count, type, dest, tag) && args.pointer("request", handle))) {
        return args.code();
    }
    if (dest == MPI_PROC_NULL) {
        return persistent
            ? give_persistent_null(
                  args, {const_cast<void*>(buf), count, &type_of(type), dest, tag, pml::SendMode::buffered}, handle)
            : give_null(args, handle);
    }
    Request* request = nullptr;
    if (Communicator& on = *args.comm(); on.view != nullptr) {
        if (const int missing = no_buffer_for_thread(args); missing != MPI_SUCCESS) {
            *handle = MPI_REQUEST_NULL;
            return missing;
        }
        const auto mode = pml::SendMode::buffered;
        const int made = persistent ? on.pml->send_init(buf, count, type_of(type), dest, tag, mode, on, &request)
                                    : on.pml->isend(buf, count, type_of(type), dest, tag, mode, on, &request);
        return persistent ? give_persistent(args, made, request, handle) : give(args, made, request, handle);
    }
    const int code = make_buffered_request(buf, count, type_of(type), dest, tag, *args.comm(), persistent, &request);
    return persistent ? give_persistent(args, code, request, handle) : give(args, code, request, handle);
}

// The attach point of a buffer.
struct Place {
    BufferAttachPoint* buffer;
    Progress* progress;
    Communicator* comm; // null: a session or the process
};

struct OnProcess {
    static bool check(Arguments&) noexcept { return true; }
    static bool find(const Arguments& args, Place* place, int* code) noexcept {
        Instance* instance = initialized(args, code);
        if (instance == nullptr) {
            return false;
        }
        *place = {&instance->send_buffer(), &instance->progress(), nullptr};
        return true;
    }
};
struct OnCommunicator {
    static bool check(Arguments& args) noexcept { return args.communicator(); }
    static bool find(const Arguments& args, Place* place, int*) noexcept {
        *place = {&args.comm()->send_buffer, &progress_of(*args.comm()), args.comm()};
        return true;
    }
};
struct OnSession {
    static bool check(Arguments& args) noexcept { return args.session(); }
    static bool find(const Arguments& args, Place* place, int*) noexcept {
        Session& session = args.session_object();
        *place = {&session.send_buffer, &session.instance->progress(), nullptr};
        return true;
    }
};

int attach(const Arguments& args, const Place& place, void* buffer, MPI_Count size) noexcept {
    try {
        size = buffer == MPI_BUFFER_AUTOMATIC ? 0 : size; // which is ignored, and may not fit an int
        const bool free = place.buffer->attach(std::make_shared<SendBuffer>(buffer, size, *place.progress));
        return free ? MPI_SUCCESS : args.fail(MPI_ERR_BUFFER, "a buffer is attached already");
    } catch (const std::bad_alloc&) {
        return args.fail(MPI_ERR_NO_MEM, "out of memory");
    }
}

template <class Count>
int detach(const Arguments& args, const Place& place, void* buffer_addr, Count* size) noexcept {
    const auto buffer = place.buffer->get();
    if (buffer != nullptr && buffer->size() > std::numeric_limits<Count>::max()) {
        return args.fail(MPI_ERR_COUNT, "the size of the attached buffer does not fit; use the _c function");
    }
    if (buffer == nullptr || !SendBuffer::detach(*place.buffer, buffer)) {
        return args.fail(MPI_ERR_BUFFER, "no buffer is attached");
    }
    *static_cast<void**>(buffer_addr) = buffer->base();
    *size = Count(buffer->size());
    return MPI_SUCCESS;
}

int flush(const Place& place) noexcept {
    if (const auto buffer = place.buffer->get(); buffer != nullptr) {
        buffer->flush();
    }
    return MPI_SUCCESS;
}

int iflush(const Arguments& args, const Place& place, MPI_Request* handle) noexcept {
    Request* request = nullptr;
    int code = MPI_SUCCESS;
    if (auto buffer = place.buffer->get(); buffer != nullptr) {
        code = make_flush_request(std::move(buffer), *place.progress, place.comm, &request);
    } else {
        MPI_Status status{};
        fill_empty_status(status);
        request = new (std::nothrow) ImmediateRequest(*place.progress, status);
        code = request != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    return give(args, code, request, handle);
}

// The size of MPI_BUFFER_AUTOMATIC is ignored (MPI-5.0, 3.6).
bool attach_args(Arguments& args, const void* buffer, MPI_Count size) noexcept {
    return buffer == MPI_BUFFER_AUTOMATIC ||
        (args.require(size >= 0, MPI_ERR_ARG, "size", size, "must not be negative") &&
            args.array("buffer", buffer, size));
}

template <class On>
int attach_on(Arguments args, void* buffer, MPI_Count size) noexcept {
    Place place{};
    int code = MPI_SUCCESS;
    if (checking() && !(On::check(args) && attach_args(args, buffer, size))) {
        return args.code();
    }
    return On::find(args, &place, &code) ? attach(args, place, buffer, size) : code;
}

template <class On, class Count>
int detach_on(Arguments args, void* buffer_addr, Count* size) noexcept {
    args.begin();
    Place place{};
    int code = MPI_SUCCESS;
    if (checking() &&
        !(args.permitted() && On::check(args) && args.pointer("buffer_addr", buffer_addr) &&
            args.pointer("size", size))) {
        return args.code();
    }
    return On::find(args, &place, &code) ? detach(args, place, buffer_addr, size) : code;
}

template <class On>
int flush_on(Arguments args) noexcept {
    args.begin();
    Place place{};
    int code = MPI_SUCCESS;
    if (checking() && !(args.permitted() && On::check(args))) {
        return args.code();
    }
    return On::find(args, &place, &code) ? flush(place) : code;
}

template <class On>
int iflush_on(Arguments args, MPI_Request* handle) noexcept {
    args.begin();
    Place place{};
    int code = MPI_SUCCESS;
    if (checking() && !(args.permitted() && On::check(args) && args.pointer("request", handle))) {
        return args.code();
    }
    return On::find(args, &place, &code) ? iflush(args, place, handle) : code;
}

} // namespace

} // namespace patchbay::api

int PMPI_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return patchbay::api::bsend("MPI_Bsend", buf, count, datatype, dest, tag, comm);
}
int PMPI_Bsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    return patchbay::api::bsend("MPI_Bsend_c", buf, count, datatype, dest, tag, comm);
}
int PMPI_Ibsend(
    const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::buffered_request("MPI_Ibsend", buf, count, datatype, dest, tag, comm, false, request);
}
int PMPI_Ibsend_c(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::buffered_request("MPI_Ibsend_c", buf, count, datatype, dest, tag, comm, false, request);
}
int PMPI_Bsend_init(
    const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::buffered_request("MPI_Bsend_init", buf, count, datatype, dest, tag, comm, true, request);
}
int PMPI_Bsend_init_c(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::buffered_request("MPI_Bsend_init_c", buf, count, datatype, dest, tag, comm, true, request);
}

using namespace patchbay::api;

int PMPI_Buffer_attach(void* buffer, int size) {
    return attach_on<OnProcess>(Arguments("MPI_Buffer_attach"), buffer, size);
}
int PMPI_Buffer_attach_c(void* buffer, MPI_Count size) {
    return attach_on<OnProcess>(Arguments("MPI_Buffer_attach_c"), buffer, size);
}
int PMPI_Buffer_detach(void* buffer_addr, int* size) {
    return detach_on<OnProcess>(Arguments("MPI_Buffer_detach"), buffer_addr, size);
}
int PMPI_Buffer_detach_c(void* buffer_addr, MPI_Count* size) {
    return detach_on<OnProcess>(Arguments("MPI_Buffer_detach_c"), buffer_addr, size);
}
int PMPI_Buffer_flush(void) {
    return flush_on<OnProcess>(Arguments("MPI_Buffer_flush"));
}
int PMPI_Buffer_iflush(MPI_Request* request) {
    return iflush_on<OnProcess>(Arguments("MPI_Buffer_iflush"), request);
}

int PMPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, int size) {
    return attach_on<OnCommunicator>({"MPI_Comm_attach_buffer", comm}, buffer, size);
}
int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void* buffer, MPI_Count size) {
    return attach_on<OnCommunicator>({"MPI_Comm_attach_buffer_c", comm}, buffer, size);
}
int PMPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, int* size) {
    return detach_on<OnCommunicator>({"MPI_Comm_detach_buffer", comm}, buffer_addr, size);
}
int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void* buffer_addr, MPI_Count* size) {
    return detach_on<OnCommunicator>({"MPI_Comm_detach_buffer_c", comm}, buffer_addr, size);
}
int PMPI_Comm_flush_buffer(MPI_Comm comm) {
    return flush_on<OnCommunicator>({"MPI_Comm_flush_buffer", comm});
}
int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
    return iflush_on<OnCommunicator>({"MPI_Comm_iflush_buffer", comm}, request);
}

int PMPI_Session_attach_buffer(MPI_Session session, void* buffer, int size) {
    return attach_on<OnSession>({"MPI_Session_attach_buffer", session}, buffer, size);
}
int PMPI_Session_attach_buffer_c(MPI_Session session, void* buffer, MPI_Count size) {
    return attach_on<OnSession>({"MPI_Session_attach_buffer_c", session}, buffer, size);
}
int PMPI_Session_detach_buffer(MPI_Session session, void* buffer_addr, int* size) {
    return detach_on<OnSession>({"MPI_Session_detach_buffer", session}, buffer_addr, size);
}
int PMPI_Session_detach_buffer_c(MPI_Session session, void* buffer_addr, MPI_Count* size) {
    return detach_on<OnSession>({"MPI_Session_detach_buffer_c", session}, buffer_addr, size);
}
int PMPI_Session_flush_buffer(MPI_Session session) {
    return flush_on<OnSession>({"MPI_Session_flush_buffer", session});
}
int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request* request) {
    return iflush_on<OnSession>({"MPI_Session_iflush_buffer", session}, request);
}
