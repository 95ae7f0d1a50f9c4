// SPDX-License-Identifier: BSD-3-Clause
// The component of a channel is chosen by both sides: info key patchbay_chan, of the binding or of the communicator.
// Where they have none in common, both get an error, also in two processes that name different ones.
#include "tests/mpi_check/check.h"

#include <mpix.h>

#include <cstring>

namespace {

int rank, size;

MPI_Info info_of(const char* components) {
    MPI_Info info = MPI_INFO_NULL;
    if (components != nullptr) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "patchbay_chan", components);
    }
    return info;
}

// The sender and the receiver allow these (null: all).
void test(const char* of_sender, const char* of_receiver, bool good, MPI_Comm comm) {
    int own, members, out = 5, in = 0;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &members);
    MPI_Request ins[2], bound[2];
    MPI_Send_init(&out, 1, MPI_INT, (own + 1) % members, 0, comm, &ins[0]);
    MPI_Recv_init(&in, 1, MPI_INT, (own + members - 1) % members, 0, comm, &ins[1]);
    MPI_Info infos[2] = {info_of(of_sender), info_of(of_receiver)};
    CHECK_OK(MPIX_Ibind_channels(ins, bound, 2, infos));
    for (int i = 0; i < 2; ++i) {
        const int code = MPI_Wait(&ins[i], MPI_STATUS_IGNORE);
        CHECK_CLASS(code, good ? MPI_SUCCESS : MPI_ERR_UNSUPPORTED_OPERATION);
        if (!good) {
            char text[MPI_MAX_ERROR_STRING];
            int length;
            MPI_Error_string(code, text, &length);
            CHECK_TEXT(std::strstr(text, "framework chan") != nullptr, text);
            CHECK(bound[i] == MPI_REQUEST_NULL);
        }
    }
    if (good) {
        CHECK_OK(MPI_Start(&bound[1]));
        CHECK_OK(MPI_Barrier(comm));
        CHECK_OK(MPI_Start(&bound[0]));
        CHECK_OK(MPI_Waitall(2, bound, MPI_STATUSES_IGNORE));
        CHECK_EQUAL(in, 5);
        CHECK_OK(MPIX_Unbind_channels(bound, 2));
    }
    for (int i = 0; i < 2; ++i) {
        MPI_Request_free(&ins[i]);
        if (infos[i] != MPI_INFO_NULL) {
            MPI_Info_free(&infos[i]);
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test(nullptr, nullptr, true, MPI_COMM_WORLD);
    test("emulated", nullptr, true, MPI_COMM_WORLD);
    test(nullptr, "emulated", true, MPI_COMM_WORLD);
    test("emulated", "emulated", true, MPI_COMM_WORLD);
    test("emulated", "^emulated", false, MPI_COMM_WORLD);
    test("^emulated", "emulated", false, MPI_COMM_WORLD);
    // The communicator's list, and one of the binding instead of it.
    MPI_Info info = info_of("emulated");
    MPI_Comm comm;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    test(nullptr, nullptr, true, comm);
    test("^emulated", nullptr, false, comm);
    MPI_Comm_free(&comm);
    return finish();
}
