/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of another implementation's users: built with a header and a library that come from the MPI Forum's tables
 * alone (foreign_header.py), run with ours. What crosses the ABI: handles and constants of each kind, MPI_Status,
 * counts and addresses, callbacks with their arguments, predefined callbacks and buffers. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#ifndef FOREIGN_MPI
#error "this is not the header that this test wants"
#endif

static int failures, rank, size, copies, deletions, errors;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            ++failures;                                                                                                \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                    \
        }                                                                                                              \
    } while (0)

static void messages(void) {
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    double out[3] = {rank, rank + 0.5, -1}, in[4] = {0, 0, 0, 7};
    int count = -1, flag = -1;
    MPI_Count large = -1;
    MPI_Status status, statuses[2];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    memset(&status, 0x5a, sizeof status);
    MPI_Irecv(in, 4, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 3, MPI_DOUBLE, next, 42, MPI_COMM_WORLD, &requests[1]);
    CHECK(requests[0] != MPI_REQUEST_NULL);
    MPI_Waitall(2, requests, statuses);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    CHECK(statuses[0].MPI_SOURCE == previous && statuses[0].MPI_TAG == 42);
    MPI_Get_count(&statuses[0], MPI_DOUBLE, &count);
    MPI_Get_elements_c(&statuses[0], MPI_DOUBLE, &large);
    MPI_Test_cancelled(&statuses[0], &flag);
    CHECK(count == 3 && large == 3 && flag == 0);
    CHECK(in[0] == previous && in[1] == previous + 0.5 && in[3] == 7);
    MPI_Recv(in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Sendrecv(out, 1, MPI_DOUBLE, next, 1, in, 1, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    requests[0] = requests[1] = MPI_REQUEST_NULL;
    CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
}

static void multiply(void* in, void* inout, int* length, MPI_Datatype* type) {
    CHECK(*type == MPI_INT);
    for (int i = 0; i < *length; i++) {
        ((int*)inout)[i] *= ((int*)in)[i];
    }
}

static void reductions(void) {
    struct {
        double value;
        int index;
    } mine = {(double)(rank * 7 % 5), rank}, best = {-1, -1};
    int two = 2, power = 1, sum = rank + 1;
    MPI_Op op = MPI_OP_NULL;
    CHECK(MPI_Op_create(multiply, 1, &op) == MPI_SUCCESS && op != MPI_OP_NULL);
    MPI_Allreduce(&two, &power, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(power == 1 << size);
    CHECK(MPI_Op_free(&op) == MPI_SUCCESS && op == MPI_OP_NULL);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size + 1) / 2);
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    double most = -1;
    int at = -1;
    for (int i = 0; i < size; i++) {
        at = i * 7 % 5 > most ? i : at;
        most = i * 7 % 5 > most ? i * 7 % 5 : most;
    }
    CHECK(best.value == most && best.index == at);
}

static void datatypes(void) {
    int values[4] = {1, 2, 3, 4}, other[4] = {0, 0, 0, 0}, lengths[2] = {1, 1};
    MPI_Aint places[2], lb = -1, extent = -1;
    MPI_Datatype types[2] = {MPI_INT, MPI_INT}, type = MPI_DATATYPE_NULL;
    MPI_Get_address(&values[0], &places[0]);
    MPI_Get_address(&values[3], &places[1]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_true_extent(type, &lb, &extent);
    CHECK(lb == places[0] && extent == 4 * (MPI_Aint)sizeof(int));
    MPI_Sendrecv(MPI_BOTTOM, 1, type, 0, 3, other, 2, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(other[0] == 1 && other[1] == 4);
    CHECK(MPI_Type_free(&type) == MPI_SUCCESS && type == MPI_DATATYPE_NULL);
}

static int copy_value(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* flag) {
    (void)comm, (void)key;
    copies += *(int*)extra;
    *(void**)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_value(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value;
    deletions += *(int*)extra;
    return MPI_SUCCESS;
}

static void attributes(void) {
    int key, predefined, by = 3, value = 5, flag = 0, *found = NULL, *limit = NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    CHECK(MPI_Comm_create_keyval(copy_value, delete_value, &key, &by) == MPI_SUCCESS);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &predefined, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
    MPI_Comm_set_attr(MPI_COMM_WORLD, predefined, &by);
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &copy) == MPI_SUCCESS && copy != MPI_COMM_NULL && copies == 3);
    MPI_Comm_get_attr(copy, predefined, &found, &flag);
    CHECK(flag && found == &by);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &flag);
    CHECK(flag && *limit >= 32767);
    int result = -1;
    MPI_Comm_compare(copy, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_free(&copy);
    CHECK(copy == MPI_COMM_NULL && deletions == 3);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, predefined);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&predefined);
    CHECK(key == MPI_KEYVAL_INVALID);
}

static void count_error(MPI_Comm* comm, int* code, ...) {
    int class = MPI_SUCCESS;
    MPI_Error_class(*code, &class);
    errors += *comm == MPI_COMM_WORLD && class == MPI_ERR_RANK;
}

static void error_handlers(void) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL, found = MPI_ERRHANDLER_NULL;
    char text[MPI_MAX_ERROR_STRING];
    int length = -1;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    CHECK(MPI_Send(NULL, 0, MPI_INT, size, 0, MPI_COMM_WORLD) != MPI_SUCCESS && errors == 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK(found == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_Error_string(MPI_ERR_TRUNCATE, text, &length) == MPI_SUCCESS && (int)strlen(text) == length);
}

static void sessions(void) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Info info = MPI_INFO_NULL;
    char value[32] = "";
    int number = 0, length = sizeof value, flag = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE");
    MPI_Info_get_string(info, "thread_level", &length, value, &flag);
    CHECK(flag && length == 18 && strcmp(value, "MPI_THREAD_SINGLE") == 0);
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS && session != MPI_SESSION_NULL);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_size(group, &number);
    CHECK(number == size);
    MPI_Group_free(&group);
    MPI_Info_free(&info);
    CHECK(group == MPI_GROUP_NULL && info == MPI_INFO_NULL);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS && session == MPI_SESSION_NULL);
}

int main(int argc, char** argv) {
    int provided = -1, major = -1, minor = -1, length = 0;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Abi_get_version(&major, &minor);
    CHECK(major == MPI_ABI_VERSION && minor >= MPI_ABI_SUBVERSION);
    MPI_Get_library_version(text, &length);
    CHECK(strncmp(text, "Patchbay MPI", 12) == 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    messages();
    reductions();
    datatypes();
    attributes();
    error_handlers();
    sessions();
    MPI_Finalize();
    return failures != 0;
}
