// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends and the buffers they use (MPI-5.0, 3.4 and 3.6).
#include "mpi/api/message_args.h"
#include "mpi/instance/library.h"
#include "mpi/instance/send_buffer.h"

#include <limits>
#include <memory>

namespace patchbay::api {

namespace {

constexpr char no_room[] = "the attached buffer has no room for the message; messages that are still under way take "
                           "MPI_BSEND_OVERHEAD bytes more than their data each";
constexpr char none_attached[] = "no buffer is attached to the communicator or to the process";

int bsend(const char* function, const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
    MPI_Comm comm) noexcept {
    Arguments args(function, comm);
    if (checking() && !send_args(args, buf, count, type, dest, tag)) {
        return args.code();
    }
    if (dest == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    const auto buffer = SendBuffer::serving(*args.comm());
    if (buffer == nullptr) {
        return args.fail(MPI_ERR_BUFFER, none_attached);
    }
    const int code = buffer->send(buf, count, type_of(type), dest, tag, *args.comm(), nullptr);
    return code == MPI_ERR_BUFFER ? args.fail(code, no_room) : args.result(code);
}

int buffered_request(const char* function, const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
    MPI_Comm comm, bool persistent, MPI_Request* handle) noexcept {
    Arguments args(function, comm);
    if (checking() && !(send_args(args, buf, count, type, dest, tag) && args.pointer("request", handle))) {
        return args.code();
    }
    if (dest == MPI_PROC_NULL) {
        return give_null(args, persistent, handle);
    }
    Request* request = nullptr;
    const int code = make_buffered_request(buf, count, type_of(type), dest, tag, *args.comm(), persistent, &request);
    if (code == MPI_ERR_BUFFER) {
        *handle = MPI_REQUEST_NULL;
        return args.fail(code, SendBuffer::serving(*args.comm()) == nullptr ? none_attached : no_room);
    }
    return give(args, code, request, handle);
}

// Where a buffer is attached: a communicator or, for null, the process.
struct Place {
    std::shared_ptr<SendBuffer>* slot;
    Progress* progress;
    Communicator* comm;
};

bool find_process(const Arguments& args, Place* place, int* code) noexcept {
    Instance* instance = library().instance();
    if (instance == nullptr) {
        *code = args.fail(MPI_ERR_OTHER, "neither MPI_Init nor a session has started MPI");
        return false;
    }
    *place = {&instance->send_buffer(), &instance->progress(), nullptr};
    return true;
}

Place place_of(Communicator& comm) noexcept {
    return {&comm.send_buffer, &progress_of(comm), &comm};
}

int attach(const Arguments& args, const Place& place, void* buffer, MPI_Count size) noexcept {
    if (*place.slot != nullptr) {
        return args.fail(MPI_ERR_BUFFER, "a buffer is attached already");
    }
    try {
        *place.slot = std::make_shared<SendBuffer>(buffer, size, *place.progress);
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return args.fail(MPI_ERR_NO_MEM, "out of memory");
    }
}

template <class Count>
int detach(const Arguments& args, const Place& place, void* buffer_addr, Count* size) noexcept {
    if (*place.slot == nullptr) {
        return args.fail(MPI_ERR_BUFFER, "no buffer is attached");
    }
    (*place.slot)->flush();
    const MPI_Count bytes = (*place.slot)->size();
    if (bytes > std::numeric_limits<Count>::max()) {
        return args.fail(MPI_ERR_COUNT, "the size of the attached buffer does not fit; use the _c function");
    }
    *static_cast<void**>(buffer_addr) = (*place.slot)->base();
    *size = Count(bytes);
    place.slot->reset();
    return MPI_SUCCESS;
}

int flush(const Place& place) noexcept {
    if (const std::shared_ptr<SendBuffer> buffer = *place.slot) {
        buffer->flush();
    }
    return MPI_SUCCESS;
}

int iflush(const Arguments& args, const Place& place, MPI_Request* handle) noexcept {
    Request* request = nullptr;
    int code = MPI_SUCCESS;
    if (*place.slot == nullptr) {
        MPI_Status status{};
        fill_empty_status(status);
        request = new (std::nothrow) ImmediateRequest(*place.progress, status, false);
        code = request != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    } else {
        code = make_flush_request(*place.slot, *place.progress, place.comm, &request);
    }
    return give(args, code, request, handle);
}

// MPI_BUFFER_AUTOMATIC has no size of its own: it is ignored (MPI-5.0, 3.6).
bool attach_args(Arguments& args, const void* buffer, MPI_Count size) noexcept {
    return buffer == MPI_BUFFER_AUTOMATIC ||
        (args.require(size >= 0, MPI_ERR_ARG, "size", size, "must not be negative") &&
            args.array("buffer", buffer, size));
}

int process_attach(const char* function, void* buffer, MPI_Count size) noexcept {
    Arguments args(function);
    Place place{};
    int code = MPI_SUCCESS;
    if (checking() && !attach_args(args, buffer, size)) {
        return args.code();
    }
    return find_process(args, &place, &code) ? attach(args, place, buffer, size) : code;
}

template <class Count>
int process_detach(const char* function, void* buffer_addr, Count* size) noexcept {
    Arguments args(function);
    Place place{};
    int code = MPI_SUCCESS;
    if (checking() && !(args.pointer("buffer_addr", buffer_addr) && args.pointer("size", size))) {
        return args.code();
    }
    return find_process(args, &place, &code) ? detach(args, place, buffer_addr, size) : code;
}

int process_flush() noexcept {
    Arguments args("MPI_Buffer_flush");
    Place place{};
    int code = MPI_SUCCESS;
    return find_process(args, &place, &code) ? flush(place) : code;
}

int process_iflush(MPI_Request* handle) noexcept {
    Arguments args("MPI_Buffer_iflush");
    Place place{};
    int code = MPI_SUCCESS;
    if (checking() && !args.pointer("request", handle)) {
        return args.code();
    }
    return find_process(args, &place, &code) ? iflush(args, place, handle) : code;
}

int comm_attach(const char* function, MPI_Comm comm, void* buffer, MPI_Count size) noexcept {
    Arguments args(function, comm);
    if (checking() && !(args.communicator() && attach_args(args, buffer, size))) {
        return args.code();
    }
    return attach(args, place_of(*args.comm()), buffer, size);
}

template <class Count>
int comm_detach(const char* function, MPI_Comm comm, void* buffer_addr, Count* size) noexcept {
    Arguments args(function, comm);
    if (checking() &&
        !(args.communicator() && args.pointer("buffer_addr", buffer_addr) && args.pointer("size", size))) {
        return args.code();
    }
    return detach(args, place_of(*args.comm()), buffer_addr, size);
}

int comm_flush(MPI_Comm comm) noexcept {
    Arguments args("MPI_Comm_flush_buffer", comm);
    if (checking() && !args.communicator()) {
        return args.code();
    }
    return flush(place_of(*args.comm()));
}

int comm_iflush(MPI_Comm comm, MPI_Request* handle) noexcept {
    Arguments args("MPI_Comm_iflush_buffer", comm);
    if (checking() && !(args.communicator() && args.pointer("request", handle))) {
        return args.code();
    }
    return iflush(args, place_of(*args.comm()), handle);
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
int PMPI_Buffer_attach(void* buffer, int size) {
    return patchbay::api::process_attach("MPI_Buffer_attach", buffer, size);
}
int PMPI_Buffer_attach_c(void* buffer, MPI_Count size) {
    return patchbay::api::process_attach("MPI_Buffer_attach_c", buffer, size);
}
int PMPI_Buffer_detach(void* buffer_addr, int* size) {
    return patchbay::api::process_detach("MPI_Buffer_detach", buffer_addr, size);
}
int PMPI_Buffer_detach_c(void* buffer_addr, MPI_Count* size) {
    return patchbay::api::process_detach("MPI_Buffer_detach_c", buffer_addr, size);
}
int PMPI_Buffer_flush(void) {
    return patchbay::api::process_flush();
}
int PMPI_Buffer_iflush(MPI_Request* request) {
    return patchbay::api::process_iflush(request);
}
int PMPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, int size) {
    return patchbay::api::comm_attach("MPI_Comm_attach_buffer", comm, buffer, size);
}
int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void* buffer, MPI_Count size) {
    return patchbay::api::comm_attach("MPI_Comm_attach_buffer_c", comm, buffer, size);
}
int PMPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, int* size) {
    return patchbay::api::comm_detach("MPI_Comm_detach_buffer", comm, buffer_addr, size);
}
int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void* buffer_addr, MPI_Count* size) {
    return patchbay::api::comm_detach("MPI_Comm_detach_buffer_c", comm, buffer_addr, size);
}
int PMPI_Comm_flush_buffer(MPI_Comm comm) {
    return patchbay::api::comm_flush(comm);
}
int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::comm_iflush(comm, request);
}
