/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_disconnect waits for starts of channels, of bundles and of partitioned requests that no completing call of
 * the program looks at meanwhile, and not for a request that is unbound, or being completed. */
#include "tests/mpi_check/check.h"

#include <mpix.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 1 << 20, partitions = 8 };

static int rank;
static char* data;

static MPI_Request persistent(int partner, MPI_Comm comm) {
    MPI_Request request;
    if (rank == 0) {
        MPI_Send_init(data, bytes, MPI_BYTE, partner, 1, comm, &request);
    } else {
        MPI_Recv_init(data, bytes, MPI_BYTE, partner, 1, comm, &request);
    }
    return request;
}

/* The receive is started first, so that both sides have something to do for the message. */
static void start(MPI_Request* request) {
    if (rank == 1) {
        CHECK_OK(MPI_Start(request));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK_OK(MPI_Start(request));
    }
}

static void end(MPI_Comm* comm, MPI_Request* request) {
    CHECK_OK(MPI_Comm_disconnect(comm));
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(data[bytes - 1], 7);
}

static MPI_Comm prepare(void) {
    MPI_Comm comm;
    memset(data, rank == 0 ? 7 : 0, bytes);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    return comm;
}

static void channel(void) {
    MPI_Comm comm = prepare();
    MPI_Request in = persistent(1 - rank, comm), bound;
    CHECK_OK(MPIX_Bind_channel(in, &bound, MPI_INFO_NULL));
    start(&bound);
    end(&comm, &bound);
    CHECK_OK(MPIX_Unbind_channel(&bound));
    CHECK_OK(MPI_Request_free(&in));
}

/* The starts behind the oldest one, too: their messages are there afterwards, or the memory of the send is free. */
static void slack(void) {
    enum { starts = 3, length = 8 << 20 };
    MPI_Comm comm = prepare();
    char* buffer = calloc(starts, length);
    MPI_Request in, bound;
    MPI_Info info;
    char increment[16];
    CHECK_OK(MPI_Info_create(&info));
    snprintf(increment, sizeof increment, "%d", length);
    CHECK_OK(MPI_Info_set(info, "address_base_increment", increment));
    if (rank == 0) {
        memset(buffer, 7, (size_t)starts * length);
        CHECK_OK(MPI_Send_init(buffer, length, MPI_BYTE, 1, 1, comm, &in));
    } else {
        CHECK_OK(MPI_Recv_init(buffer, length, MPI_BYTE, 0, 1, comm, &in));
    }
    CHECK_OK(MPIX_Bind_slack_channel(in, &bound, starts, info));
    for (int i = 0; i < starts && rank == 1; ++i) {
        CHECK_OK(MPI_Start(&bound));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < starts && rank == 0; ++i) {
        CHECK_OK(MPI_Start(&bound));
    }
    CHECK_OK(MPI_Comm_disconnect(&comm));
    if (rank == 0) {
        memset(buffer, 3, (size_t)starts * length);
    }
    for (int i = 0; i < starts; ++i) {
        CHECK(rank == 0 || (buffer[(size_t)i * length] == 7 && buffer[((size_t)i + 1) * length - 1] == 7));
        CHECK_OK(MPI_Wait(&bound, MPI_STATUS_IGNORE));
    }
    CHECK(memchr(buffer, rank == 0 ? 7 : 3, (size_t)starts * length) == NULL);
    CHECK_OK(MPIX_Unbind_channel(&bound));
    CHECK_OK(MPI_Request_free(&in));
    CHECK_OK(MPI_Info_free(&info));
    free(buffer);
}

static void bundle(void) {
    MPI_Comm comm = prepare();
    MPI_Request in = persistent(1 - rank, comm), bound, all;
    CHECK_OK(MPIX_Bind_channel(in, &bound, MPI_INFO_NULL));
    CHECK_OK(MPIX_Bundle_init(1, &bound, MPI_INFO_NULL, &all));
    start(&all);
    end(&comm, &all);
    CHECK_OK(MPI_Request_free(&all));
    CHECK_OK(MPIX_Unbind_channel(&bound));
    CHECK_OK(MPI_Request_free(&in));
}

static void partitioned(void) {
    MPI_Comm comm = prepare();
    MPI_Request request;
    const int other = 1 - rank;
    if (rank == 0) {
        CHECK_OK(
            MPI_Psend_init(data, partitions, bytes / partitions, MPI_BYTE, other, 1, comm, MPI_INFO_NULL, &request));
    } else {
        CHECK_OK(
            MPI_Precv_init(data, partitions, bytes / partitions, MPI_BYTE, other, 1, comm, MPI_INFO_NULL, &request));
    }
    CHECK_OK(MPI_Start(&request));
    if (rank == 0) {
        CHECK_OK(MPI_Pready_range(0, partitions - 1, request));
    }
    end(&comm, &request);
    CHECK_OK(MPI_Request_free(&request));
}

static void unbinding(int partner) {
    MPI_Comm comm = prepare();
    MPI_Request in = persistent(partner, comm), bound;
    CHECK_OK(MPIX_Bind_channel(in, &bound, MPI_INFO_NULL));
    CHECK_OK(MPIX_Iunbind_channel(bound, MPI_INFO_NULL));
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK_OK(MPI_Wait(&bound, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&in));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &data);
    channel();
    slack();
    bundle();
    partitioned();
    unbinding(1 - rank);
    unbinding(MPI_PROC_NULL);
    MPI_Free_mem(data);
    return finish();
}
