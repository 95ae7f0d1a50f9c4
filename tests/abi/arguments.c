/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's mistake: the class of the error, and a text that names function, argument and value. */
#include "tests/mpi_check/check.h"

#include <string.h>

static void expect(int code, int error_class, const char* const* words) {
    char text[MPI_MAX_ERROR_STRING] = "";
    char failure[MPI_MAX_ERROR_STRING + 100];
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (class_of(code) != error_class) {
        snprintf(failure, sizeof failure, "%s: class %d, expected %d", words[0], class_of(code), error_class);
        check_failed(__FILE__, __LINE__, failure);
    }
    for (; *words != NULL; ++words) {
        snprintf(failure, sizeof failure, "\"%s\" does not contain \"%s\"", text, *words);
        CHECK_TEXT(strstr(text, *words) != NULL, failure);
    }
}

#define WORDS(...)                                                                                                     \
    (const char* const[]) {                                                                                            \
        __VA_ARGS__, NULL                                                                                              \
    }

static int handler_calls;
static MPI_Comm handler_comm;

static void handler(MPI_Comm* comm, int* code, ...) {
    (void)code;
    ++handler_calls;
    handler_comm = *comm;
}

/* The error goes to the communicator of the call, or to MPI_COMM_SELF when there is none. */
static void check_whose_handler(void) {
    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
    MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    CHECK_TEXT(
        handler_calls == 1 && handler_comm == MPI_COMM_WORLD, "an error on MPI_COMM_WORLD did not reach its handler");
    MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_NULL);
    CHECK_TEXT(handler_calls == 2 && handler_comm == MPI_COMM_SELF,
        "an error without communicator did not reach the handler of MPI_COMM_SELF");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&errhandler);
}

static void check_texts(void) {
    int value = 0, limit, *tag_limit, is_set;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype uncommitted;
    expect(MPI_Send(&value, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT, WORDS("MPI_Send:", "count", "-1"));
    expect(MPI_Send_c(&value, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT, WORDS("MPI_Send_c:", "count", "-1"));
    expect(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, world), MPI_ERR_TYPE, WORDS("datatype", "MPI_DATATYPE_NULL"));
    expect(MPI_Send(&value, 1, MPI_INT, 4711, 0, world), MPI_ERR_RANK, WORDS("dest", "4711"));
    expect(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, world), MPI_ERR_RANK, WORDS("dest", "-1"));
    expect(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, world), MPI_ERR_TAG, WORDS("tag", "-2"));
    expect(MPI_Send(NULL, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER, WORDS("buf", "null pointer"));
    expect(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER, WORDS("buf", "MPI_IN_PLACE"));
    expect(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM, WORDS("comm", "MPI_COMM_NULL"));
    expect(
        MPI_Send(&value, 1, MPI_INT, 0, 0, (MPI_Comm)0), MPI_ERR_COMM, WORDS("comm", "may not have been initialized"));
    expect(MPI_Recv(&value, 1, MPI_INT, -7, 0, world, MPI_STATUS_IGNORE), MPI_ERR_RANK, WORDS("source", "-7"));
    expect(MPI_Bcast(&value, 1, MPI_INT, 4711, world), MPI_ERR_ROOT, WORDS("MPI_Bcast:", "root", "4711"));
    expect(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_OP_NULL, world), MPI_ERR_OP, WORDS("op", "MPI_OP_NULL"));
    expect(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_BYTE, MPI_SUM, world), MPI_ERR_OP, WORDS("op", "0x21"));

    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    expect(MPI_Send(&value, 0, uncommitted, 0, 0, world), MPI_ERR_TYPE, WORDS("datatype", "committed"));
    MPI_Type_free(&uncommitted);

    MPI_Comm_get_attr(world, MPI_TAG_UB, &tag_limit, &is_set);
    limit = is_set ? *tag_limit : 0;
    CHECK(limit >= 32767);
    if (limit < 2147483647) {
        expect(MPI_Send(&value, 1, MPI_INT, 0, limit + 1, world), MPI_ERR_TAG, WORDS("tag", "must be from 0 to"));
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_texts();
    check_whose_handler();
    return finish();
}
