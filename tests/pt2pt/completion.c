/* SPDX-License-Identifier: BSD-3-Clause */
/* Wait, test and get_status for one, any, some and all; null and inactive requests; persistent requests; errors. */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>

enum { count = 6 };
static int rank, size, next, previous;

static void start(MPI_Request requests[2 * count], int in[count], int out[count], int round) {
    for (int i = 0; i < count; i++) {
        in[i] = -1;
        out[i] = 1000 * round + 10 * rank + i;
        MPI_Irecv(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < count; i++) {
        MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[count + i]);
    }
}

static void check_values(const int in[count], int round) {
    for (int i = 0; i < count; i++) {
        CHECK(in[i] == 1000 * round + 10 * previous + i);
    }
}

static void all_forms(void) {
    MPI_Request requests[2 * count];
    MPI_Status statuses[2 * count], status;
    int in[count], out[count], indices[2 * count], flag, index, done, outcount;

    start(requests, in, out, 1);
    MPI_Waitall(2 * count, requests, statuses);
    check_values(in, 1);
    for (int i = 0; i < count; i++) {
        CHECK(statuses[i].MPI_SOURCE == previous && statuses[i].MPI_TAG == i);
        CHECK(requests[i] == MPI_REQUEST_NULL && requests[count + i] == MPI_REQUEST_NULL);
    }

    start(requests, in, out, 2);
    for (done = 0; done < 2 * count; done++) {
        MPI_Waitany(2 * count, requests, &index, &status);
        CHECK(index >= 0 && index < 2 * count && requests[index] == MPI_REQUEST_NULL);
        CHECK(index >= count || status.MPI_TAG == index);
    }
    MPI_Waitany(2 * count, requests, &index, &status);
    CHECK(index == MPI_UNDEFINED && status.MPI_TAG == MPI_ANY_TAG && status.MPI_SOURCE == MPI_ANY_SOURCE);
    check_values(in, 2);

    start(requests, in, out, 3);
    for (done = 0; done < 2 * count; done += outcount) {
        MPI_Waitsome(2 * count, requests, &outcount, indices, statuses);
        CHECK(outcount > 0);
        for (int i = 0; i < outcount; i++) {
            CHECK(indices[i] >= count || statuses[i].MPI_TAG == indices[i]);
        }
    }
    MPI_Waitsome(2 * count, requests, &outcount, indices, statuses);
    CHECK(outcount == MPI_UNDEFINED);
    check_values(in, 3);

    start(requests, in, out, 4);
    for (flag = 0; !flag;) {
        MPI_Testall(2 * count, requests, &flag, statuses);
    }
    check_values(in, 4);

    start(requests, in, out, 5);
    for (done = 0; done < 2 * count;) {
        MPI_Testany(2 * count, requests, &index, &flag, &status);
        CHECK(flag || index == MPI_UNDEFINED);
        done += flag;
    }
    MPI_Testany(2 * count, requests, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED);
    check_values(in, 5);

    start(requests, in, out, 6);
    for (done = 0; done < 2 * count; done += outcount) {
        MPI_Testsome(2 * count, requests, &outcount, indices, statuses);
        CHECK(outcount != MPI_UNDEFINED);
    }
    MPI_Testsome(2 * count, requests, &outcount, indices, statuses);
    CHECK(outcount == MPI_UNDEFINED);
    check_values(in, 6);

    start(requests, in, out, 7);
    for (flag = 0; !flag;) {
        MPI_Request_get_status_all(2 * count, requests, &flag, statuses);
    }
    for (int i = 0; i < count; i++) {
        CHECK(requests[i] != MPI_REQUEST_NULL && statuses[i].MPI_TAG == i);
    }
    MPI_Request_get_status_any(2 * count, requests, &index, &flag, &status);
    CHECK(flag && index == 0 && status.MPI_TAG == 0);
    MPI_Request_get_status_some(2 * count, requests, &outcount, indices, statuses);
    CHECK(outcount == 2 * count && indices[count] == count);
    MPI_Request_get_status(requests[1], &flag, &status);
    CHECK(flag && status.MPI_TAG == 1);
    for (int i = 0; i < 2 * count; i++) {
        MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        CHECK(flag && requests[i] == MPI_REQUEST_NULL);
    }
    check_values(in, 7);
    MPI_Wait(&requests[0], &status);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Test(&requests[0], &flag, &status);
    CHECK(flag);
}

static void persistent(void) {
    enum { large = 40000 };
    static int in[large], out[large];
    MPI_Request requests[4];
    MPI_Status status;
    int flag;
    MPI_Recv_init(in, large, MPI_INT, previous, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, large, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(in, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[2]);
    MPI_Ssend_init(out, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[3]);
    MPI_Wait(&requests[0], &status);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Test(&requests[1], &flag, &status);
    CHECK(flag);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < large; i++) {
            out[i] = round + i + rank;
            in[i] = -1;
        }
        MPI_Startall(4, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Wait(&requests[2], &status);
        CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
        MPI_Wait(&requests[3], &status);
        for (int i = 0; i < large; i++) {
            if (in[i] != round + i + previous) {
                CHECK(!"a value of a persistent receive");
                break;
            }
        }
    }
    for (int i = 0; i < 4; i++) {
        CHECK(requests[i] != MPI_REQUEST_NULL);
        MPI_Request_free(&requests[i]);
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
}

/* Receives what the previous process sends, `sent` numbers, into a buffer for one: the text names source, tag and
 * sizes. */
static void check_truncation(MPI_Comm comm, int blocking, int sent) {
    int* out = calloc((size_t)sent, sizeof *out);
    int in = -1, length;
    char text[MPI_MAX_ERROR_STRING], wanted[MPI_MAX_ERROR_STRING];
    MPI_Request receive, send;
    MPI_Status status;
    MPI_Isend(out, sent, MPI_INT, next, 7, comm, &send);
    int code;
    if (blocking) {
        code = MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, &status);
    } else {
        MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &receive);
        code = MPI_Wait(&receive, &status);
    }
    MPI_Error_string(code, text, &length);
    snprintf(wanted, sizeof wanted, "the message from rank %d with tag 7 has %zu bytes, the buffer takes %zu", previous,
        (size_t)sent * sizeof *out, sizeof in);
    if (strstr(text, wanted) == NULL) {
        fprintf(stderr, "%s\nis not\n%s\n", text, wanted);
        CHECK(!"the text of MPI_ERR_TRUNCATE");
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    free(out);
}

static void errors(void) {
    int in[2] = {-1, -1}, out[4] = {1, 2, 3, 4}, class;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Irecv(&in[0], 1, MPI_INT, previous, 1, comm, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, previous, 2, comm, &requests[1]);
    MPI_Send(out, 4, MPI_INT, next, 1, comm);
    MPI_Send(out, 1, MPI_INT, next, 2, comm);
    CHECK(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS);
    MPI_Error_class(statuses[0].MPI_ERROR, &class);
    CHECK(class == MPI_ERR_TRUNCATE && statuses[1].MPI_ERROR == MPI_SUCCESS && in[0] == 1 && in[1] == 1);

    MPI_Irecv(&in[0], 1, MPI_INT, previous, 1, comm, &requests[0]);
    MPI_Send(out, 4, MPI_INT, next, 1, comm);
    MPI_Error_class(MPI_Wait(&requests[0], &statuses[0]), &class);
    CHECK(class == MPI_ERR_TRUNCATE && requests[0] == MPI_REQUEST_NULL);
    for (int blocking = 0; blocking < 2; blocking++) {
        check_truncation(comm, blocking, 4);
        check_truncation(comm, blocking, 1 << 18); /* by a rendezvous */
    }

    CHECK(MPI_Send(out, -1, MPI_INT, next, 1, comm) == MPI_ERR_COUNT);
    CHECK(MPI_Send(out, 1, MPI_INT, size, 1, comm) == MPI_ERR_RANK);
    CHECK(MPI_Send(out, 1, MPI_INT, next, -5, comm) == MPI_ERR_TAG);
    CHECK(MPI_Send(out, 1, MPI_DATATYPE_NULL, next, 1, comm) == MPI_ERR_TYPE);
    CHECK(MPI_Recv(in, 1, MPI_INT, size + 3, 1, comm, MPI_STATUS_IGNORE) == MPI_ERR_RANK);

    MPI_Recv_init(&in[0], 1, MPI_INT, previous, 1, comm, &requests[0]);
    CHECK(MPI_Start(&requests[0]) == MPI_SUCCESS);
    CHECK(MPI_Start(&requests[0]) == MPI_ERR_REQUEST);
    MPI_Send(out, 1, MPI_INT, next, 1, comm);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    requests[1] = requests[0]; /* the first start goes on */
    CHECK(MPI_Startall(2, requests) == MPI_ERR_REQUEST);
    MPI_Send(out, 1, MPI_INT, next, 1, comm);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Irecv(&in[0], 1, MPI_INT, previous, 1, comm, &requests[0]);
    CHECK(MPI_Start(&requests[0]) == MPI_ERR_REQUEST);
    MPI_Barrier(MPI_COMM_WORLD); /* until here the request is not complete */
    MPI_Send(out, 1, MPI_INT, next, 1, comm);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
}

static int queried, freed;
static int query(void* state, MPI_Status* status) {
    queried++;
    MPI_Status_set_elements(status, MPI_INT, *(int*)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = 77;
    return MPI_SUCCESS;
}
static int release(void* state) {
    (void)state;
    freed++;
    return MPI_SUCCESS;
}
static int cancelled;
static int cancel(void* state, int complete) {
    (void)state;
    cancelled += complete ? 10 : 1;
    return MPI_SUCCESS;
}

static void generalized(void) {
    int elements = 3, flag, n;
    MPI_Request request, copy;
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, &elements, &request);
    copy = request;
    MPI_Test(&request, &flag, &status);
    CHECK(!flag && queried == 0);
    MPI_Cancel(&request);
    CHECK(cancelled == 1);
    MPI_Grequest_complete(copy);
    MPI_Request_get_status(request, &flag, &status);
    CHECK(flag && queried == 1 && freed == 0);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &n);
    CHECK(request == MPI_REQUEST_NULL && n == 3 && status.MPI_TAG == 77 && freed == 1);
    MPI_Grequest_start(query, release, cancel, &elements, &request);
    copy = request;
    MPI_Request_free(&request);
    CHECK(freed == 1);
    MPI_Grequest_complete(copy);
    CHECK(freed == 2);
}

/* The call that runs a callback returns its error code; of several, the free callback's, which runs last. */
static int code_of_query, code_of_free, code_of_cancel;
static int failing_query(void* state, MPI_Status* status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return code_of_query;
}
static int failing_free(void* state) {
    (void)state;
    return code_of_free;
}
static int failing_cancel(void* state, int complete) {
    (void)state, (void)complete;
    return code_of_cancel;
}
static MPI_Request failing(int of_query, int of_free, int complete) {
    MPI_Request request;
    code_of_query = of_query, code_of_free = of_free;
    MPI_Grequest_start(failing_query, failing_free, failing_cancel, NULL, &request);
    if (complete) {
        CHECK(MPI_Grequest_complete(request) == MPI_SUCCESS);
    }
    return request;
}

static void callbacks_that_fail(void) {
    int flag, index, count, indices[2], code;
    MPI_Status status, statuses[2];
    MPI_Errhandler before;
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Add_error_class(&code);

    MPI_Request request = failing(MPI_SUCCESS, code, 1), copy;
    CHECK(MPI_Wait(&request, &status) == code && request == MPI_REQUEST_NULL);
    request = failing(MPI_ERR_OTHER, MPI_SUCCESS, 1);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_ERR_OTHER && request == MPI_REQUEST_NULL);
    request = failing(MPI_ERR_OTHER, code, 1);
    CHECK(MPI_Request_get_status(request, &flag, &status) == MPI_ERR_OTHER && flag);
    CHECK(MPI_Test(&request, &flag, &status) == code && flag && request == MPI_REQUEST_NULL);
    request = failing(MPI_SUCCESS, code, 1);
    CHECK(MPI_Waitany(1, &request, &index, &status) == code && index == 0 && request == MPI_REQUEST_NULL);
    request = failing(MPI_SUCCESS, code, 1);
    CHECK(MPI_Testany(1, &request, &index, &flag, &status) == code && flag && request == MPI_REQUEST_NULL);

    for (int form = 0; form < 4; ++form) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, failing(MPI_ERR_OTHER, code, 1)};
        statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = -1;
        const int result = form == 0 ? MPI_Waitall(2, requests, statuses)
            : form == 1              ? MPI_Testall(2, requests, &flag, statuses)
            : form == 2              ? MPI_Waitsome(2, requests, &count, indices, statuses)
                                     : MPI_Testsome(2, requests, &count, indices, statuses);
        CHECK(result == MPI_ERR_IN_STATUS && requests[1] == MPI_REQUEST_NULL);
        CHECK(statuses[form < 2 ? 1 : 0].MPI_ERROR == code);
        CHECK(form < 2 ? statuses[0].MPI_ERROR == MPI_SUCCESS : count == 1 && indices[0] == 1);
    }

    /* Without a failure no MPI_ERROR is written (MPI-5.0, 3.2.5). */
    for (int form = 0; form < 6; ++form) {
        MPI_Request requests[2] = {failing(MPI_SUCCESS, MPI_SUCCESS, 1), failing(MPI_SUCCESS, MPI_SUCCESS, 1)};
        statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = -1;
        const int result = form == 0 ? MPI_Waitall(2, requests, statuses)
            : form == 1              ? MPI_Testall(2, requests, &flag, statuses)
            : form == 2              ? MPI_Waitsome(2, requests, &count, indices, statuses)
            : form == 3              ? MPI_Testsome(2, requests, &count, indices, statuses)
            : form == 4              ? MPI_Request_get_status_all(2, requests, &flag, statuses)
                                     : MPI_Request_get_status_some(2, requests, &count, indices, statuses);
        CHECK(result == MPI_SUCCESS && statuses[0].MPI_ERROR == -1 && statuses[1].MPI_ERROR == -1);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }

    request = failing(MPI_SUCCESS, code, 1);
    CHECK(MPI_Request_free(&request) == code && request == MPI_REQUEST_NULL);
    request = copy = failing(MPI_SUCCESS, code, 0); /* freed when it is complete */
    CHECK(MPI_Request_free(&request) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
    CHECK(MPI_Grequest_complete(copy) == code);

    request = failing(MPI_SUCCESS, MPI_SUCCESS, 0);
    code_of_cancel = code;
    CHECK(MPI_Cancel(&request) == code);
    CHECK(MPI_Grequest_complete(request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
    MPI_Errhandler_free(&before);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    all_forms();
    persistent();
    errors();
    generalized();
    callbacks_that_fail();
    return finish();
}
