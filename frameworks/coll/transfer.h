// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/waiter.h"
#include "frameworks/coll/coll.h"
#include "frameworks/pml/pml.h"
#include "object/error_cause.h"
#include "object/error_code.h"
#include "object/request.h"

#include <utility>

namespace patchbay::coll {

// What one member of a collective needs of point-to-point: one communicator, one tag, and the first error so far. Ranks
// equal to the caller's own are allowed. Blocking functions wait by the library's waiting policy.
//
// The other members wait for the messages of this one, so a collective goes through all of its sends and receives even
// after an error. From then on this member sends empty messages and drops what it receives. A receiver whose message is
// shorter than it asked for returns an error: all members give the same signature, so the sender has failed, or it was
// called with a smaller count. In this way an error reaches every member whose result depends on it.
class Transfer {
public:
    Transfer(Communicator& comm, int tag) noexcept
        : _comm(comm),
          _tag(tag) {}
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    // The first error; MPI_SUCCESS: none until now.
    int code() const noexcept { return _code; }
    bool failed() const noexcept { return _code != MPI_SUCCESS; }
    // Notes an error of this member; MPI_SUCCESS is none. Returns code().
    int fail(int code) noexcept {
        if (code != MPI_SUCCESS) [[unlikely]] {
            _code = failed() ? _code : code;
        }
        return _code;
    }

    // These return code().
    int send(const void* buffer, MPI_Count count, const Datatype& type, int dest) noexcept {
        const int code = send_part(buffer, failed() ? 0 : count, type, dest);
        return code == MPI_SUCCESS ? _code : send_empty(code, dest);
    }
    int recv(void* buffer, MPI_Count count, const Datatype& type, int source) noexcept {
        MPI_Status status;
        set_status_bytes(status, 0);
        int code = _comm.pml->recv(buffer, failed() ? 0 : count, type, source, _tag, _comm, &status);
        if (code == MPI_ERR_NO_MEM) [[unlikely]] { // nothing has been received
            fail(code);
            code = _comm.pml->recv(nullptr, 0, type, source, _tag, _comm, &status);
        }
        return check(code, status, count * type.size);
    }
    // Sends to one member and receives from another one at the same time. meanwhile(), which must neither communicate
    // nor wait, is called when the message is on its way.
    template <class Meanwhile>
    int exchange(const void* send_buffer, MPI_Count send_count, const Datatype& send_type, int dest, void* recv_buffer,
        MPI_Count recv_count, const Datatype& recv_type, int source, const Meanwhile& meanwhile) noexcept {
        Request* outgoing = start_send(send_buffer, send_count, send_type, dest);
        if (outgoing != nullptr && outgoing->is_complete()) { // most are
            finish_send(std::exchange(outgoing, nullptr), dest);
        }
        if (_unreachable) [[unlikely]] {
            return recv_of_unreachable(recv_count * recv_type.size, source);
        }
        meanwhile();
        recv(recv_buffer, recv_count, recv_type, source);
        return outgoing != nullptr ? finish_send(outgoing, dest) : _code;
    }
    int exchange(const void* send_buffer, MPI_Count send_count, const Datatype& send_type, int dest, void* recv_buffer,
        MPI_Count recv_count, const Datatype& recv_type, int source) noexcept {
        return exchange(send_buffer, send_count, send_type, dest, recv_buffer, recv_count, recv_type, source, [] {});
    }

    // nullptr: the send is over.
    Request* start_send(const void* buffer, MPI_Count count, const Datatype& type, int dest) noexcept {
        Request* request = nullptr;
        const int code =
            _comm.pml->isend(buffer, failed() ? 0 : count, type, dest, _tag, pml::SendMode::standard, _comm, &request);
        if (code != MPI_SUCCESS) [[unlikely]] {
            send_empty(code, dest);
            return nullptr;
        }
        return request;
    }
    // nullptr: it could not be started. This member has failed then, and must call recv() later, when all that it has
    // to send before is on its way.
    Request* start_recv(void* buffer, MPI_Count count, const Datatype& type, int source) noexcept {
        Request* request = nullptr;
        fail(_comm.pml->irecv(buffer, failed() ? 0 : count, type, source, _tag, _comm, &request));
        return request;
    }
    // These wait for a request, which is gone afterwards. `bytes`: how long the message has to be. They return code().
    int finish_send(Request* request, int dest) noexcept {
        wait(*request);
        const int code = request->error;
        request->recycle();
        return code == MPI_SUCCESS ? _code : send_empty(code, dest);
    }
    int finish_recv(Request* request, MPI_Count bytes, int source) noexcept {
        wait(*request);
        const int code = check(request->error, request->status, bytes);
        const bool received = request->error != MPI_ERR_NO_MEM;
        request->recycle();
        return received ? code : recv(nullptr, 0, *to_object<Datatype>(MPI_BYTE), source);
    }

private:
    int send_part(const void* buffer, MPI_Count count, const Datatype& type, int dest) noexcept {
        return _comm.pml->send(buffer, count, type, dest, _tag, pml::SendMode::standard, _comm);
    }
    // Instead of a message that could not be sent. Where this one cannot be sent either because memory is exhausted
    // (MPI_ERR_NO_MEM), the receiver has a way to this member, and waits for it.
    [[gnu::cold]] int send_empty(int code, int dest) noexcept {
        fail(code);
        _unreachable = send_part(nullptr, 0, *to_object<Datatype>(MPI_BYTE), dest) != MPI_SUCCESS;
        return _code;
    }
    // Where no way leads to a member, it has none to this one either and sends nothing: what is not here is not waited
    // for.
    [[gnu::cold]] int recv_of_unreachable(MPI_Count bytes, int source) noexcept {
        Request* incoming = start_recv(nullptr, 0, *to_object<Datatype>(MPI_BYTE), source);
        if (incoming == nullptr) {
            return _code;
        }
        incoming->cancel();
        return finish_recv(incoming, bytes, source);
    }
    int check(int code, const MPI_Status& status, MPI_Count bytes) noexcept {
        if (code == MPI_SUCCESS && status_bytes(status) < std::uint64_t(bytes)) [[unlikely]] {
            code = short_message(status_bytes(status) == 0);
        }
        return fail(code);
    }
    [[gnu::cold]] static int short_message(bool empty) noexcept {
        return empty ? note_cause(MPI_ERR_OTHER, "another member of the communicator has failed, or gave a count of 0")
                     : note_cause(MPI_ERR_COUNT, "another member of the communicator gave a smaller count");
    }
    static void wait(const Request& request) noexcept {
        wait_until(*request.progress, [&request] { return request.is_complete(); });
    }

    Communicator& _comm;
    const int _tag;
    int _code = MPI_SUCCESS;
    bool _unreachable = false; // not even an empty message could be sent
};

} // namespace patchbay::coll
