/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles as integers (MPI-5.0, 21.6), of every type: predefined ones have the ABI's number, others one of their own
 * that leads back to the same handle. The numbers are written out; they are the standard's, not this header's. */
#include "tests/mpi_check/check.h"

#include <string.h>

enum { first_dynamic = 4096 };

static void ignore_file_errors(MPI_File* file, int* code, ...) {
    (void)file, (void)code;
}

static void predefined(void) {
    CHECK(MPI_Group_toint(MPI_GROUP_NULL) == 0x108 && MPI_Group_fromint(0x108) == MPI_GROUP_NULL);
    CHECK(MPI_Group_toint(MPI_GROUP_EMPTY) == 0x109 && MPI_Group_fromint(0x109) == MPI_GROUP_EMPTY);
    CHECK(MPI_Win_toint(MPI_WIN_NULL) == 0x110 && MPI_Win_fromint(0x110) == MPI_WIN_NULL);
    CHECK(MPI_File_toint(MPI_FILE_NULL) == 0x118 && MPI_File_fromint(0x118) == MPI_FILE_NULL);
    CHECK(MPI_Message_toint(MPI_MESSAGE_NULL) == 0x128 && MPI_Message_fromint(0x128) == MPI_MESSAGE_NULL);
    CHECK(MPI_Message_toint(MPI_MESSAGE_NO_PROC) == 0x129 && MPI_Message_fromint(0x129) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Request_toint(MPI_REQUEST_NULL) == 0x180 && MPI_Request_fromint(0x180) == MPI_REQUEST_NULL);
    CHECK(MPI_Op_toint(MPI_OP_NULL) == 0x20 && MPI_Op_fromint(0x20) == MPI_OP_NULL);
    CHECK(MPI_Op_toint(MPI_SUM) == 0x21 && MPI_Op_fromint(0x21) == MPI_SUM);
    CHECK(MPI_Errhandler_toint(MPI_ERRORS_RETURN) > 0 && MPI_Errhandler_toint(MPI_ERRORS_RETURN) < first_dynamic);
}

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; i++) {
        ((int*)inout)[i] += ((int*)in)[i];
    }
}

/* The handle that comes back is usable in the place of the first one. */
static void groups_and_operations(void) {
    MPI_Group group, other;
    MPI_Op op, same;
    int size = -1, a = 3, b = 4;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_group(MPI_COMM_SELF, &other);
    const int number = MPI_Group_toint(group);
    CHECK(number >= first_dynamic && number == MPI_Group_toint(group));
    CHECK(MPI_Group_fromint(number) == group && MPI_Group_toint(other) != number);
    MPI_Group back = MPI_Group_fromint(MPI_Group_toint(other));
    MPI_Group_size(back, &size);
    CHECK(size == 1);
    MPI_Group_free(&other);
    MPI_Group_free(&group);

    MPI_Op_create(add, 1, &op);
    CHECK(MPI_Op_toint(op) >= first_dynamic);
    same = MPI_Op_fromint(MPI_Op_toint(op));
    CHECK(same == op);
    MPI_Reduce_local(&a, &b, 1, MPI_INT, same);
    CHECK(b == 7);
    MPI_Op_free(&op);
}

static void requests_and_messages(void) {
    int out = 5, in = -1, other = -1, found = 0;
    MPI_Request receive, send;
    MPI_Message message;
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &receive);
    CHECK(MPI_Request_toint(receive) >= first_dynamic);
    MPI_Request same = MPI_Request_fromint(MPI_Request_toint(receive));
    CHECK(same == receive);
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&same, MPI_STATUS_IGNORE);
    CHECK(same == MPI_REQUEST_NULL && in == 5);

    MPI_Isend(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &send);
    while (!found) {
        MPI_Improbe(0, 2, MPI_COMM_SELF, &found, &message, MPI_STATUS_IGNORE);
    }
    CHECK(MPI_Message_toint(message) >= first_dynamic);
    message = MPI_Message_fromint(MPI_Message_toint(message));
    MPI_Mrecv(&other, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(other == 5 && message == MPI_MESSAGE_NULL);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

/* No file and no window can be made yet; an error handler for files can. */
static void file_errhandlers(void) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL, same;
    CHECK(MPI_File_create_errhandler(ignore_file_errors, &handler) == MPI_SUCCESS);
    CHECK(handler != MPI_ERRHANDLER_NULL && MPI_Errhandler_toint(handler) >= first_dynamic);
    same = MPI_Errhandler_fromint(MPI_Errhandler_toint(handler));
    CHECK(same == handler);
    /* It belongs to files: a communicator does not take it. */
    int class = MPI_SUCCESS;
    MPI_Error_class(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler), &class);
    CHECK(class == MPI_ERR_ERRHANDLER || class == MPI_ERR_ARG);
    CHECK(MPI_Errhandler_free(&handler) == MPI_SUCCESS && handler == MPI_ERRHANDLER_NULL);
    MPI_Error_class(MPI_File_create_errhandler(NULL, &handler), &class);
    CHECK(class == MPI_ERR_ARG);
}

/* Numbers that no handle has give the integer 0, which no handle is. */
static void unknown_numbers(void) {
    CHECK(MPI_Group_fromint(2000000000) == (MPI_Group)0);
    CHECK(MPI_Request_fromint(2000000000) == (MPI_Request)0);
    CHECK(MPI_Op_fromint(2000000000) == (MPI_Op)0);
    CHECK(MPI_Message_fromint(2000000000) == (MPI_Message)0);
    CHECK(MPI_Win_fromint(2000000000) == (MPI_Win)0);
    CHECK(MPI_File_fromint(-1) == (MPI_File)0);
}

/* The level has no meaning of the standard's; the call and its variable arguments are allowed at any time. */
static void profiling_control(void) {
    CHECK(MPI_Pcontrol(0) == MPI_SUCCESS);
    CHECK(MPI_Pcontrol(1) == MPI_SUCCESS);
    CHECK(MPI_Pcontrol(2, "name", 3.0) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    predefined();
    groups_and_operations();
    requests_and_messages();
    file_errhandlers();
    unknown_numbers();
    profiling_control();
    MPI_Finalize();
    return failures();
}
