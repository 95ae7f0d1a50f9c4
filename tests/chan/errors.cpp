// SPDX-License-Identifier: BSD-3-Clause
// Errors of channels: one call of the communicator's error handler, with a text; on both sides where both can know.
// What was wrong can be used afterwards.
#include "tests/mpi_check/check.h"

#include <mpix.h>

#include <cstring>
#include <initializer_list>

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

// The text of the last error has these parts.
void expect_text(int code, const char* first, const char* second) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    CHECK_TEXT(std::strstr(text, first) != nullptr && std::strstr(text, second) != nullptr, text);
}

// A pair of requests of this process.
struct Pair {
    explicit Pair(int count = 4, int receive_count = 4) {
        MPI_Send_init(out, count, MPI_INT, rank, 1, comm, &ins[0]);
        MPI_Recv_init(in, receive_count, MPI_INT, rank, 1, comm, &ins[1]);
    }
    ~Pair() {
        MPI_Request_free(&ins[0]);
        MPI_Request_free(&ins[1]);
    }
    void bind() { CHECK_OK(MPIX_Bind_channels(ins, bound, 2, nullptr)); }
    void unbind() { CHECK_OK(MPIX_Unbind_channels(bound, 2)); }
    void use() {
        out[0] += 5;
        CHECK_OK(MPI_Start(&bound[1]));
        CHECK_OK(MPI_Start(&bound[0]));
        CHECK_OK(MPI_Waitall(2, bound, MPI_STATUSES_IGNORE));
        CHECK_EQUAL(in[0], out[0]);
    }
    int out[8] = {1, 2, 3, 4}, in[8] = {};
    MPI_Request ins[2], bound[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

void test_wrong_requests() {
    Pair pair;
    int data = 0;
    MPI_Request null = MPI_REQUEST_NULL, out = MPI_REQUEST_NULL, other;
    CHECK_CLASS(MPIX_Bind_channel(null, &out, MPI_INFO_NULL), MPI_ERR_REQUEST);
    CHECK_CLASS(MPIX_Bind_channel(pair.ins[0], nullptr, MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Bind_channels(pair.ins, pair.bound, -1, nullptr), MPI_ERR_COUNT);
    CHECK_CLASS(MPIX_Bind_channels(nullptr, pair.bound, 2, nullptr), MPI_ERR_ARG);
    // Not persistent.
    CHECK_OK(MPI_Irecv(&data, 1, MPI_INT, rank, 9, comm, &other));
    CHECK_ERROR(MPIX_Bind_channel(other, &out, MPI_INFO_NULL), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Send(&data, 1, MPI_INT, rank, 9, comm));
    CHECK_OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    // Persistent, but no message.
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &other));
    CHECK_CLASS(MPIX_Ibind_channel(other, &out, MPI_INFO_NULL), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Request_free(&other));
    CHECK_OK(MPI_Psend_init(&data, 1, 1, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_INFO_NULL, &other));
    CHECK_ERROR(MPIX_Ibind_channel(other, &out, MPI_INFO_NULL), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Request_free(&other));
    // Active.
    CHECK_OK(MPI_Start(&pair.ins[1]));
    CHECK_ERROR(MPIX_Bind_channel(pair.ins[1], &out, MPI_INFO_NULL), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Start(&pair.ins[0]));
    CHECK_OK(MPI_Waitall(2, pair.ins, MPI_STATUSES_IGNORE));
    // Twice in one call.
    MPI_Request twice[3] = {pair.ins[0], pair.ins[1], pair.ins[0]}, outs[3];
    CHECK_ERROR(MPIX_Bind_channels(twice, outs, 3, nullptr), MPI_ERR_REQUEST);
    // Bound.
    pair.bind();
    CHECK_ERROR(MPIX_Bind_channel(pair.bound[0], &out, MPI_INFO_NULL), MPI_ERR_REQUEST);
    pair.use();
    pair.unbind();
}

void test_values() {
    Pair pair;
    MPI_Request out;
    // Before the requests are known, errors belong to MPI_COMM_SELF.
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPIX_Bind_slack_channels(pair.ins, &out, 1, nullptr, nullptr), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Ibind_slack_channels(pair.ins, &out, 1, nullptr, nullptr), MPI_ERR_ARG);
    for (const int slackness : {0, -3, 70000}) {
        CHECK_ERROR(MPIX_Bind_slack_channel(pair.ins[0], &out, slackness, MPI_INFO_NULL), MPI_ERR_ARG);
    }
    MPI_Info info;
    MPI_Info_create(&info);
    for (const char* value : {"", "5x", "elements", "99999999999999999999999", "9223372036854775807"}) {
        MPI_Info_set(info, "address_base_increment", value[0] != '\0' ? value : " ");
        CHECK_ERROR(MPIX_Bind_channel(pair.ins[0], &out, info), MPI_ERR_INFO_VALUE);
    }
    MPI_Info_free(&info);
    const MPI_Info wrong = reinterpret_cast<MPI_Info>(MPI_COMM_WORLD);
    CHECK_ERROR(MPIX_Bind_channel(pair.ins[0], &out, wrong), MPI_ERR_INFO);
    pair.bind();
    CHECK_ERROR(MPIX_Iunbind_channel(pair.bound[0], wrong), MPI_ERR_INFO);
    pair.unbind();
}

void test_bound_requests() {
    Pair pair;
    MPI_Request null = MPI_REQUEST_NULL;
    CHECK_CLASS(MPIX_Unbind_channel(nullptr), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Unbind_channel(&null), MPI_ERR_REQUEST);
    CHECK_ERROR(MPIX_Unbind_channel(&pair.ins[0]), MPI_ERR_REQUEST);
    CHECK_ERROR(MPIX_Iunbind_channel(pair.ins[0], MPI_INFO_NULL), MPI_ERR_REQUEST);
    CHECK_ERROR(MPIX_Rebind_channel(pair.ins[0], pair.out, 1), MPI_ERR_REQUEST);
    pair.bind();
    errors = 0;
    const int code = MPI_Request_free(&pair.bound[0]);
    CHECK_CLASS(code, MPI_ERR_REQUEST);
    CHECK_EQUAL(errors, 1);
    expect_text(code, "MPI_Request_free", "MPIX_Unbind_channel");
    CHECK(pair.bound[0] != MPI_REQUEST_NULL);
    // More than its slackness.
    CHECK_OK(MPI_Start(&pair.bound[1]));
    CHECK_ERROR(MPI_Start(&pair.bound[1]), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Startall(1, &pair.bound[1]), MPI_ERR_REQUEST);
    CHECK_ERROR(MPIX_Unbind_channel(&pair.bound[1]), MPI_ERR_REQUEST);
    CHECK_ERROR(MPIX_Rebind_channel(pair.bound[1], pair.in, 1), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Cancel(&pair.bound[1]), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Start(&pair.bound[0]));
    CHECK_OK(MPI_Waitall(2, pair.bound, MPI_STATUSES_IGNORE));
    CHECK_ERROR(MPIX_Rebind_channel(pair.bound[0], pair.out, 5), MPI_ERR_COUNT);
    CHECK_ERROR(MPIX_Rebind_channel(pair.bound[0], pair.out, -1), MPI_ERR_COUNT);
    CHECK_ERROR(MPIX_Rebind_channel(pair.bound[0], nullptr, 1), MPI_ERR_BUFFER);
    MPI_Request twice[2] = {pair.bound[0], pair.bound[0]};
    CHECK_ERROR(MPIX_Unbind_channels(twice, 2), MPI_ERR_REQUEST);
    pair.use();
    pair.unbind();
}

// What must not be done with a request that is being bound.
void test_pending() {
    Pair pair;
    CHECK_OK(MPIX_Ibind_channel(pair.ins[1], &pair.bound[1], MPI_INFO_NULL));
    MPI_Request copy = pair.ins[1];
    CHECK_ERROR(MPI_Request_free(&copy), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Cancel(&pair.ins[1]), MPI_ERR_REQUEST);
    CHECK_ERROR(MPI_Start(&pair.ins[1]), MPI_ERR_REQUEST);
    CHECK_ERROR(MPIX_Ibind_channel(pair.ins[1], &pair.bound[1], MPI_INFO_NULL), MPI_ERR_REQUEST);
    int flag = 1;
    for (int i = 0; i < 5; ++i) {
        CHECK_OK(MPI_Test(&pair.ins[1], &flag, MPI_STATUS_IGNORE));
        CHECK_EQUAL(flag, 0);
    }
    CHECK(pair.bound[1] == MPI_REQUEST_NULL);
    CHECK_OK(MPIX_Ibind_channel(pair.ins[0], &pair.bound[0], MPI_INFO_NULL));
    CHECK_OK(MPI_Waitall(2, pair.ins, MPI_STATUSES_IGNORE));
    pair.use();
    pair.unbind();
}

// Both sides get the error, in the blocking and in the nonblocking form.
void test_mismatch(int count, int receive_count, int slackness, int receive_slackness, int error_class,
    const char* first, const char* second) {
    Pair pair(count, receive_count);
    int both[2] = {slackness, receive_slackness};
    errors = 0;
    int code = MPIX_Bind_slack_channels(pair.ins, pair.bound, 2, both, nullptr);
    CHECK_CLASS(code, error_class);
    CHECK_EQUAL(errors, 1);
    expect_text(code, first, second);
    CHECK(pair.bound[0] == MPI_REQUEST_NULL && pair.bound[1] == MPI_REQUEST_NULL);
    CHECK_OK(MPIX_Ibind_slack_channels(pair.ins, pair.bound, 2, both, nullptr));
    for (int i = 0; i < 2; ++i) {
        errors = 0;
        code = MPI_Wait(&pair.ins[i], MPI_STATUS_IGNORE);
        CHECK_CLASS(code, error_class);
        CHECK_EQUAL(errors, 1);
        expect_text(code, first, second);
        CHECK(pair.ins[i] != MPI_REQUEST_NULL && pair.bound[i] == MPI_REQUEST_NULL);
    }
    // Between two processes.
    if (size >= 2 && rank < 2) {
        int data[8];
        MPI_Request in, out;
        if (rank == 0) {
            MPI_Send_init(data, count, MPI_INT, 1, 2, comm, &in);
        } else {
            MPI_Recv_init(data, receive_count, MPI_INT, 0, 2, comm, &in);
        }
        errors = 0;
        code = MPIX_Bind_slack_channel(in, &out, both[rank], MPI_INFO_NULL);
        CHECK_CLASS(code, error_class);
        CHECK_EQUAL(errors, 1);
        expect_text(code, first, second);
        // The request itself is as before.
        MPI_Status status;
        CHECK_OK(MPI_Start(&in));
        const int after = MPI_Wait(&in, &status);
        CHECK_CLASS(after, rank == 1 && count > receive_count ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        CHECK_OK(MPI_Request_free(&in));
    }
}

// One side allows only a component that does not exist.
void test_components() {
    Pair pair;
    MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Info_create(&infos[0]);
    MPI_Info_set(infos[0], "patchbay_chan", "nothing");
    errors = 0;
    const int code = MPIX_Bind_channels(pair.ins, pair.bound, 2, infos);
    CHECK(code != MPI_SUCCESS);
    CHECK_EQUAL(errors, 1);
    expect_text(code, "chan", "nothing");
    MPI_Info swapped[2] = {MPI_INFO_NULL, infos[0]};
    CHECK(MPIX_Bind_channels(pair.ins, pair.bound, 2, swapped) != MPI_SUCCESS);
    MPI_Info_free(&infos[0]);
    pair.bind();
    pair.use();
    pair.unbind();
}

// A message that is longer than what the receiver has rebound.
void test_truncation() {
    Pair pair;
    pair.bind();
    CHECK_OK(MPIX_Rebind_channel(pair.bound[1], pair.in, 2));
    CHECK_OK(MPI_Start(&pair.bound[1]));
    CHECK_OK(MPI_Start(&pair.bound[0]));
    const int code = MPI_Wait(&pair.bound[1], MPI_STATUS_IGNORE);
    CHECK_CLASS(code, MPI_ERR_TRUNCATE);
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    CHECK_TEXT(
        std::strstr(text, "has been rebound") != nullptr || std::strstr(text, "the buffer takes 8") != nullptr, text);
    CHECK_OK(MPI_Wait(&pair.bound[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPIX_Rebind_channel(pair.bound[1], pair.in, 4));
    pair.use();
    pair.unbind();
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    test_wrong_requests();
    test_values();
    test_bound_requests();
    test_pending();
    test_mismatch(4, 3, 1, 1, MPI_ERR_TRUNCATE, "16", "12");
    test_mismatch(2, 4, 1, 1, MPI_ERR_COUNT, "8", "16");
    test_mismatch(4, 4, 2, 3, MPI_ERR_ARG, "slackness 2", "receiver 3");
    test_components();
    test_truncation();
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    return finish();
}
