// SPDX-License-Identifier: BSD-3-Clause
// Send-receive operations (MPI-5.0, 3.10).
#include "core/progress/waiter.h"
#include "mpi/api/message_args.h"
#include "object/convertor.h"
#include "object/error_code.h"
#include "object/origins.h"
#include "object/part_of_call.h"

#include <cstdlib>
#include <memory>

namespace patchbay::api {

namespace {

struct FreeDelete {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using Copy = std::unique_ptr<std::byte[], FreeDelete>;

// The arguments of one direction.
struct Half {
    const void* buffer;
    MPI_Count count;
    const Datatype* type;
    int peer;
    int tag;
};

// The request of MPI_Isendrecv. It owns the requests of the send and the receive, and the copy that the _replace form
// sends.
class SendrecvRequest final : public Request, public Continuation {
public:
    SendrecvRequest(Communicator& on, Copy copy) noexcept
        : Continuation(progress_of(on), &ReadyItem::call<SendrecvRequest, &SendrecvRequest::end>),
          _copy(std::move(copy)),
          _comm(Ref<Communicator>::share(&on)) {
        belong_to(on);
        progress = &progress_of(on);
    }

    int start() noexcept override { return MPI_ERR_REQUEST; } // never persistent
    int cancel() noexcept override { return MPI_SUCCESS; }

    OriginNote note; // among the handles that the program has to free

    // Called once. These two are under way, or complete.
    void follow(Request& sending, Request& receiving) noexcept {
        _sending = &sending;
        _receiving = &receiving;
        set_active();
        open();
        sending.attach(*this);
        receiving.attach(*this);
        if (close()) {
            collect();
            set_complete();
        }
    }
    int retire() noexcept override {
        delete this;
        return MPI_SUCCESS;
    }

private:
    void collect() noexcept {
        status = _receiving->status;
        error = _receiving->error != MPI_SUCCESS ? _receiving->error : _sending->error;
        _sending->recycle();
        _receiving->recycle();
        _complete_reference.set(*_comm);
    }
    void end() noexcept {
        collect();
        complete();
    }

    Request* _sending = nullptr;
    Request* _receiving = nullptr;
    Copy _copy;
    Ref<Communicator> _comm;
    CompleteReference _complete_reference; // that one
};

int begin_recv(Communicator& comm, const Half& half, Request** request) noexcept {
    if (half.peer == MPI_PROC_NULL) {
        *request = make_null_request(comm);
        return *request != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    return comm.pml->irecv(const_cast<void*>(half.buffer), half.count, *half.type, half.peer, half.tag, comm, request);
}

int begin_send(Communicator& comm, const Half& half, Request** request) noexcept {
    if (half.peer == MPI_PROC_NULL) {
        *request = make_null_request(comm);
        return *request != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    return comm.pml->isend(
        half.buffer, half.count, *half.type, half.peer, half.tag, pml::SendMode::standard, comm, request);
}

int exchange(Communicator& comm, const Half& out, const Half& in, MPI_Status* status) noexcept {
    Request* receiving = nullptr;
    const int begun = begin_recv(comm, in, &receiving);
    if (begun != MPI_SUCCESS) {
        return begun;
    }
    if (receiving->is_complete() && receiving->error == MPI_ERR_NO_MEM) {
        receiving->recycle(); // nothing is sent, as after an error of begin_recv()
        return MPI_ERR_NO_MEM;
    }
    const int sent = out.peer == MPI_PROC_NULL
        ? MPI_SUCCESS
        : comm.pml->send(out.buffer, out.count, *out.type, out.peer, out.tag, pml::SendMode::standard, comm);
    if (sent != MPI_SUCCESS) {
        receiving->cancel(); // the message may have been the one to this process itself
    }
    wait_until(progress_of(comm), [receiving] { return receiving->is_complete(); });
    return_status(receiving->status, status);
    const int received = receiving->error;
    receiving->recycle();
    return first_error(received, sent);
}

int start_exchange(
    const char* function, Communicator& comm, const Half& out, const Half& in, Copy copy, Request** request) noexcept {
    auto* made = new (std::nothrow) SendrecvRequest(comm, std::move(copy));
    if (made == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    Request* receiving = nullptr;
    Request* sending = nullptr;
    int code = begin_recv(comm, in, &receiving);
    if (code == MPI_SUCCESS) {
        code = begin_send(comm, out, &sending);
        if (code != MPI_SUCCESS) {
            receiving->cancel();
            receiving->recycle();
        }
    }
    if (code != MPI_SUCCESS) {
        made->retire();
        return code;
    }
    made->follow(*sending, *receiving);
    made->note.add_request(*made, function, comm);
    *request = made;
    return MPI_SUCCESS;
}

// Packs the data of `half` into one block of bytes, which `half` describes afterwards. false: out of memory.
bool pack(Half& half, Copy* copy) noexcept {
    if (half.peer == MPI_PROC_NULL) {
        return true;
    }
    Convertor convertor(*half.type, half.count, half.buffer);
    copy->reset(static_cast<std::byte*>(std::malloc(convertor.total() + 1)));
    if (*copy == nullptr) {
        return false;
    }
    convertor.pack(copy->get(), convertor.total());
    half.buffer = copy->get();
    half.count = MPI_Count(convertor.total());
    half.type = &type_of(MPI_PACKED);
    return true;
}

struct SendrecvArguments {
    const void* sendbuf;
    MPI_Count sendcount;
    MPI_Datatype sendtype;
    int dest;
    int sendtag;
    void* recvbuf;
    MPI_Count recvcount;
    MPI_Datatype recvtype;
    int source;
    int recvtag;

    bool good(Arguments& args) const noexcept {
        return args.communicator() && args.count("sendcount", sendcount) && args.datatype("sendtype", sendtype) &&
            args.buffer("sendbuf", sendbuf, sendcount, sendtype) && args.dest("dest", dest) &&
            args.send_tag("sendtag", sendtag) && args.count("recvcount", recvcount) &&
            args.datatype("recvtype", recvtype) && args.buffer("recvbuf", recvbuf, recvcount, recvtype) &&
            args.source("source", source) && args.receive_tag("recvtag", recvtag);
    }
    Half out() const noexcept { return {sendbuf, sendcount, &type_of(sendtype), dest, sendtag}; }
    Half in() const noexcept { return {recvbuf, recvcount, &type_of(recvtype), source, recvtag}; }
};

int sendrecv(const char* function, const SendrecvArguments& what, MPI_Comm comm, MPI_Status* status) noexcept {
    Arguments args(function, comm);
    if (checking() && !what.good(args)) {
        return args.code();
    }
    const PartOfCall part(function);
    return args.result(exchange(*args.comm(), what.out(), what.in(), status));
}

int isendrecv(const char* function, const SendrecvArguments& what, MPI_Comm comm, MPI_Request* handle) noexcept {
    Arguments args(function, comm);
    if (checking() && !(what.good(args) && args.pointer("request", handle))) {
        return args.code();
    }
    Request* request = nullptr;
    const PartOfCall part(function);
    const int code = start_exchange(function, *args.comm(), what.out(), what.in(), nullptr, &request);
    return give(args, code, request, handle);
}

// The _replace forms send a packed copy.
SendrecvArguments replacing(
    void* buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag) noexcept {
    return {buf, count, type, dest, sendtag, buf, count, type, source, recvtag};
}

PartOfCall::Packed packed_for(const SendrecvArguments& what, const Copy& copy) noexcept {
    return {copy.get(), &type_of(what.sendtype), what.sendcount};
}

int sendrecv_replace(const char* function, const SendrecvArguments& what, MPI_Comm comm, MPI_Status* status) noexcept {
    Arguments args(function, comm);
    if (checking() && !what.good(args)) {
        return args.code();
    }
    Half out = what.out();
    Copy copy;
    if (!pack(out, &copy)) {
        return args.fail(MPI_ERR_NO_MEM, "out of memory for a copy of the buffer");
    }
    const PartOfCall part(function, packed_for(what, copy));
    return args.result(exchange(*args.comm(), out, what.in(), status));
}

int isendrecv_replace(
    const char* function, const SendrecvArguments& what, MPI_Comm comm, MPI_Request* handle) noexcept {
    Arguments args(function, comm);
    if (checking() && !(what.good(args) && args.pointer("request", handle))) {
        return args.code();
    }
    Half out = what.out();
    Copy copy;
    if (!pack(out, &copy)) {
        return args.fail(MPI_ERR_NO_MEM, "out of memory for a copy of the buffer");
    }
    Request* request = nullptr;
    const PartOfCall part(function, packed_for(what, copy));
    const int code = start_exchange(function, *args.comm(), out, what.in(), std::move(copy), &request);
    return give(args, code, request, handle);
}

} // namespace

} // namespace patchbay::api

int PMPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
    return patchbay::api::sendrecv("MPI_Sendrecv",
        {sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag}, comm, status);
}
int PMPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
    MPI_Status* status) {
    return patchbay::api::sendrecv("MPI_Sendrecv_c",
        {sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag}, comm, status);
}
int PMPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::isendrecv("MPI_Isendrecv",
        {sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag}, comm, request);
}
int PMPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
    MPI_Request* request) {
    return patchbay::api::isendrecv("MPI_Isendrecv_c",
        {sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag}, comm, request);
}
int PMPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
    MPI_Comm comm, MPI_Status* status) {
    return patchbay::api::sendrecv_replace("MPI_Sendrecv_replace",
        patchbay::api::replacing(buf, count, datatype, dest, sendtag, source, recvtag), comm, status);
}
int PMPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
    int recvtag, MPI_Comm comm, MPI_Status* status) {
    return patchbay::api::sendrecv_replace("MPI_Sendrecv_replace_c",
        patchbay::api::replacing(buf, count, datatype, dest, sendtag, source, recvtag), comm, status);
}
int PMPI_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
    MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::isendrecv_replace("MPI_Isendrecv_replace",
        patchbay::api::replacing(buf, count, datatype, dest, sendtag, source, recvtag), comm, request);
}
int PMPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
    int recvtag, MPI_Comm comm, MPI_Request* request) {
    return patchbay::api::isendrecv_replace("MPI_Isendrecv_replace_c",
        patchbay::api::replacing(buf, count, datatype, dest, sendtag, source, recvtag), comm, request);
}
