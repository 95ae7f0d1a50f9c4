// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments and wrong order of calls: the class of each error, one call of the communicator's error handler, and
// the request can be used afterwards. Two sides with different numbers of bytes: an error on both.
#include "tests/mpi_check/check.h"

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

int errors = 0;
MPI_Comm comm;
int rank, size;

void count_error(MPI_Comm* on, int*, ...) {
    errors += *on == comm;
}

#define CHECK_ERROR(call, error_class)                                                                                 \
    do {                                                                                                               \
        errors = 0;                                                                                                    \
        CHECK_CLASS(call, error_class);                                                                                \
        CHECK_EQUAL(errors, 1);                                                                                        \
    } while (0)

void test_init() {
    int data[4];
    MPI_Request request;
    MPI_Datatype uncommitted;
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    const struct {
        void* buffer;
        int partitions, count;
        MPI_Datatype type;
        int peer, tag, error_class;
    } bad[] = {
        {data, -1, 1, MPI_INT, 0, 1, MPI_ERR_ARG},
        {data, 4, -1, MPI_INT, 0, 1, MPI_ERR_COUNT},
        {data, 4, 1, MPI_DATATYPE_NULL, 0, 1, MPI_ERR_TYPE},
        {data, 4, 1, uncommitted, 0, 1, MPI_ERR_TYPE},
        {data, 4, 1, MPI_INT, size, 1, MPI_ERR_RANK},
        {data, 4, 1, MPI_INT, -7, 1, MPI_ERR_RANK},
        {data, 4, 1, MPI_INT, 0, -2, MPI_ERR_TAG},
        {nullptr, 4, 1, MPI_INT, 0, 1, MPI_ERR_BUFFER},
        {MPI_IN_PLACE, 4, 1, MPI_INT, 0, 1, MPI_ERR_BUFFER},
        // Wildcards are not for partitioned communication.
        {data, 4, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_ERR_RANK},
        {data, 4, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_ERR_TAG},
    };
    for (const auto& one : bad) {
        CHECK_ERROR(MPI_Psend_init(one.buffer, one.partitions, one.count, one.type, one.peer, one.tag, comm,
                        MPI_INFO_NULL, &request),
            one.error_class);
        CHECK_ERROR(MPI_Precv_init_c(one.buffer, one.partitions, one.count, one.type, one.peer, one.tag, comm,
                        MPI_INFO_NULL, &request),
            one.error_class);
    }
    CHECK_ERROR(MPI_Psend_init(data, 4, 1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, nullptr), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Precv_init(data, 4, 1, MPI_INT, 0, 1, MPI_COMM_NULL, MPI_INFO_NULL, &request), MPI_ERR_COMM);
    // An info object is accepted.
    MPI_Info info;
    MPI_Info_create(&info);
    CHECK_OK(MPI_Psend_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 1, comm, info, &request));
    MPI_Info_free(&info);
    CHECK_OK(MPI_Request_free(&request));
    MPI_Type_free(&uncommitted);
}

// The text of the last error names function, argument and value.
void expect_text(int code, const char* function, const char* argument, const char* value) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    for (const char* part : {function, argument, value}) {
        CHECK_TEXT(std::strstr(text, part) != nullptr, text);
    }
}

void test_partitions() {
    constexpr int partitions = 5;
    int out[partitions] = {1, 2, 3, 4, 5}, in[partitions] = {}, flag = 0;
    MPI_Request send, receive;
    CHECK_OK(MPI_Psend_init(out, partitions, 1, MPI_INT, rank, 2, comm, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Precv_init(in, 1, partitions, MPI_INT, rank, 2, comm, MPI_INFO_NULL, &receive));
    for (int round = 0; round < 3; ++round) {
        CHECK_ERROR(MPI_Pready(0, send), MPI_ERR_REQUEST); // not started
        CHECK_ERROR(MPI_Pready_range(0, 1, send), MPI_ERR_REQUEST);
        CHECK_ERROR(MPI_Pready_list(1, out, send), MPI_ERR_REQUEST);
        CHECK_OK(MPI_Parrived(receive, 0, &flag)); // no start is outstanding
        CHECK(flag);
        CHECK_OK(MPI_Start(&send));
        CHECK_OK(MPI_Start(&receive));
        CHECK_ERROR(MPI_Start(&send), MPI_ERR_REQUEST);
        CHECK_ERROR(MPI_Pready(-1, send), MPI_ERR_ARG);
        errors = 0;
        expect_text(MPI_Pready(partitions, send), "MPI_Pready", "partition", "5");
        CHECK_EQUAL(errors, 1);
        CHECK_ERROR(MPI_Pready_range(2, partitions, send), MPI_ERR_ARG);
        CHECK_ERROR(MPI_Pready_range(3, 2, send), MPI_ERR_ARG);
        const int list[] = {0, 3, partitions};
        CHECK_ERROR(MPI_Pready_list(3, list, send), MPI_ERR_ARG); // none of them has become ready
        CHECK_ERROR(MPI_Pready_list(-1, list, send), MPI_ERR_ARG);
        CHECK_ERROR(MPI_Pready_list(1, nullptr, send), MPI_ERR_ARG);
        CHECK_ERROR(MPI_Pready(0, receive), MPI_ERR_REQUEST);
        CHECK_ERROR(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST);
        CHECK_ERROR(MPI_Parrived(receive, 1, &flag), MPI_ERR_ARG);
        CHECK_ERROR(MPI_Parrived(receive, -1, &flag), MPI_ERR_ARG);
        CHECK_ERROR(MPI_Parrived(receive, 0, nullptr), MPI_ERR_ARG);
        CHECK_OK(MPI_Parrived(receive, 0, &flag));
        CHECK(!flag);
        CHECK_OK(MPI_Pready_list(2, list, send));
        CHECK_ERROR(MPI_Pready(3, send), MPI_ERR_ARG); // is ready
        CHECK_ERROR(MPI_Request_free(&send), MPI_ERR_REQUEST);
        CHECK_ERROR(MPI_Cancel(&send), MPI_ERR_REQUEST);
        CHECK_ERROR(MPI_Cancel(&receive), MPI_ERR_REQUEST);
        CHECK_OK(MPI_Pready_range(1, 2, send));
        CHECK_ERROR(MPI_Pready_range(3, 4, send), MPI_ERR_ARG); // 3 is ready, and 4 has not become so
        CHECK_OK(MPI_Pready(4, send));
        CHECK_ERROR(MPI_Pready(4, send), MPI_ERR_ARG);
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        CHECK(std::memcmp(in, out, sizeof in) == 0);
        std::memset(in, 0, sizeof in);
    }
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&receive));
}

void test_other_requests() {
    int data = 0, flag = 0;
    MPI_Request request;
    CHECK_CLASS(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Send_init(&data, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request));
    CHECK_ERROR(MPI_Pready(0, request), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Parrived(request, 0, &flag), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Request_free(&request));
}

// Each start of both sides ends with the error, and nothing else is affected.
void test_sizes(int send_count, int receive_count, int error_class) {
    std::vector<int> out(std::size_t(send_count) * 4, rank), in(std::size_t(receive_count) * 2, -1);
    MPI_Request requests[2];
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    CHECK_OK(MPI_Psend_init(out.data(), 4, send_count, MPI_INT, next, 3, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in.data(), 2, receive_count, MPI_INT, previous, 3, comm, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 2; ++round) {
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_ERROR(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), error_class);
        errors = 0;
        const int code = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        CHECK_EQUAL(class_of(code), error_class);
        CHECK_EQUAL(errors, 1);
        char sent[32];
        std::snprintf(sent, sizeof sent, "%d bytes", send_count * 16);
        expect_text(code, "MPI_Wait", "MPI_Precv_init", sent);
    }
    CHECK(in == std::vector<int>(in.size(), -1));
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Errhandler counting;
    MPI_Comm_create_errhandler(count_error, &counting);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, counting);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    test_init();
    test_partitions();
    test_other_requests();
    test_sizes(200, 300, MPI_ERR_TRUNCATE);
    test_sizes(100, 300, MPI_ERR_COUNT);
    test_sizes(0, 300, MPI_ERR_COUNT);
    test_partitions();
    MPI_Errhandler_free(&counting);
    CHECK_OK(MPI_Comm_disconnect(&comm));
    return finish();
}
