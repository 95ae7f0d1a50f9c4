// SPDX-License-Identifier: BSD-3-Clause
// What a persistent point-to-point request says to a component that completes it in another way (Request::bound()), and
// the communicator whose error handler its errors call, also with MPI_PROC_NULL.
#include "frameworks/pml/pml.h"
#include "object/datatype.h"
#include "object/handle.h"
#include "object/request.h"
#include "tests/mpi_check/check.h"

using patchbay::Request;
using patchbay::pml::PersistentRequest;
using patchbay::pml::SendMode;

namespace {

using SendInit = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

int errors = 0;

void count_error(MPI_Comm*, int*, ...) {
    ++errors;
}

void expect_bound(MPI_Request handle, const PersistentRequest& wanted) {
    PersistentRequest what{};
    CHECK(patchbay::to_object<Request>(handle)->bound(&what));
    CHECK(what.buffer == wanted.buffer);
    CHECK_EQUAL(what.count, wanted.count);
    CHECK(what.type == wanted.type);
    CHECK_EQUAL(what.peer, wanted.peer);
    CHECK_EQUAL(what.tag, wanted.tag);
    CHECK(what.mode == wanted.mode);
}

// One may be active at a time: MPI_Start of an active request is an error. `completes`: a start completes without a
// message.
void expect_own_error_handler(MPI_Request* request, bool completes) {
    errors = 0;
    CHECK_OK(MPI_Start(request));
    CHECK_CLASS(MPI_Start(request), MPI_ERR_REQUEST);
    CHECK_EQUAL(errors, 1);
    if (!completes) {
        CHECK_OK(MPI_Cancel(request));
    }
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

void check_sends(MPI_Comm comm, int rank) {
    const struct {
        SendInit init;
        SendMode mode;
    } kinds[] = {{MPI_Send_init, SendMode::standard}, {MPI_Ssend_init, SendMode::synchronous},
        {MPI_Rsend_init, SendMode::ready}, {MPI_Bsend_init, SendMode::buffered}};
    double data[3] = {};
    for (const auto& kind : kinds) {
        for (const int peer : {rank, MPI_PROC_NULL}) {
            MPI_Request request;
            CHECK_OK(kind.init(data, 3, MPI_DOUBLE, peer, 7, comm, &request));
            expect_bound(request, {data, 3, patchbay::to_object<patchbay::Datatype>(MPI_DOUBLE), peer, 7, kind.mode});
            if (peer == MPI_PROC_NULL) {
                expect_own_error_handler(&request, true);
            }
            CHECK_OK(MPI_Request_free(&request));
        }
    }
}

void check_receives(MPI_Comm comm, int rank) {
    int data[2] = {};
    for (const int peer : {rank, MPI_ANY_SOURCE, MPI_PROC_NULL}) {
        for (const int tag : {7, MPI_ANY_TAG}) {
            MPI_Request request;
            CHECK_OK(MPI_Recv_init(data, 2, MPI_INT, peer, tag, comm, &request));
            expect_bound(request, {data, 2, patchbay::to_object<patchbay::Datatype>(MPI_INT), peer, tag, {}});
            expect_own_error_handler(&request, peer == MPI_PROC_NULL);
            CHECK_OK(MPI_Request_free(&request));
        }
    }
}

// Other requests bind nothing.
void check_others(MPI_Comm comm, int rank) {
    int data = 0;
    PersistentRequest what{};
    MPI_Request requests[2];
    MPI_Irecv(&data, 1, MPI_INT, rank, 7, comm, &requests[0]);
    MPI_Isend(nullptr, 0, MPI_INT, MPI_PROC_NULL, 7, comm, &requests[1]);
    for (MPI_Request request : requests) {
        CHECK(!patchbay::to_object<Request>(request)->bound(&what));
    }
    MPI_Cancel(&requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

// The request refers to its type and its communicator, which the program may free before it.
void check_references() {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK_OK(MPI_Send_init(nullptr, 0, type, MPI_PROC_NULL, 7, comm, &request));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_OK(MPI_Request_free(&request));
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm comm;
    MPI_Errhandler counting;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(count_error, &counting);
    MPI_Comm_set_errhandler(comm, counting);
    check_sends(comm, rank);
    check_receives(comm, rank);
    check_others(comm, rank);
    check_references();
    MPI_Errhandler_free(&counting);
    CHECK_OK(MPI_Comm_disconnect(&comm));
    MPI_Finalize();
    return failures();
}
