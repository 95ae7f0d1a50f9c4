/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank fails while channels with it are being bound, are in use, or are being unbound;
 * mpi_channel_survivors_test.py runs this under mpirun --disable-auto-cleanup. What needs the failed rank returns
 * MPI_ERR_PROC_ABORTED, channels of the others go on, and nobody waits for ever.
 * mpi_channel_survivors bind|use|unbind|collective */
#include <mpi.h>
#include <mpix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int rank, size, victim, failures;

static void check_class(int code, int wanted, const char* what) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    if (error_class != wanted) {
        printf("rank %d: %s: class %d\n", rank, what, error_class);
        ++failures;
    }
}

/* A channel in each direction between this rank and another one. */
struct channels {
    int out, in;
    MPI_Request ins[2], bound[2];
};

static void init(struct channels* of, int partner) {
    MPI_Send_init(&of->out, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, &of->ins[0]);
    MPI_Recv_init(&of->in, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, &of->ins[1]);
    of->bound[0] = of->bound[1] = MPI_REQUEST_NULL;
}

static void use(struct channels* of, int partner) {
    of->out = rank;
    check_class(MPI_Start(&of->bound[1]), MPI_SUCCESS, "start of a receive");
    MPI_Sendrecv(NULL, 0, MPI_INT, partner, 2, NULL, 0, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_class(MPI_Start(&of->bound[0]), MPI_SUCCESS, "start of a send");
    check_class(MPI_Waitall(2, of->bound, MPI_STATUSES_IGNORE), MPI_SUCCESS, "messages");
    if (of->in != partner) {
        printf("rank %d: wrong data\n", rank);
        ++failures;
    }
}

/* A persistent collective whose messages go over channels: the survivors get errors, in each start. One that does not
   depend on the victim may succeed. */
static void start_collectives(int* sum, MPI_Request* requests, int fails) {
    *sum = -1;
    for (int i = 0; i < 2; ++i) {
        int code = MPI_Start(&requests[i]);
        int error_class = MPI_SUCCESS;
        if (code == MPI_SUCCESS) {
            code = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
        MPI_Error_class(code, &error_class);
        if (fails ? i == 0 && error_class != MPI_ERR_PROC_ABORTED && error_class != MPI_ERR_OTHER
                  : error_class != MPI_SUCCESS) {
            printf("rank %d: collective %d: class %d\n", rank, i, error_class);
            ++failures;
        }
    }
    if (!fails && *sum != size) {
        printf("rank %d: wrong sum\n", rank);
        ++failures;
    }
}

static int use_collectives(void) {
    const int one = 1;
    int sum;
    MPI_Request requests[2];
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 5; ++round) {
        start_collectives(&sum, requests, 0);
    }
    if (rank == victim) {
        raise(SIGKILL);
    }
    for (int round = 0; round < 3; ++round) {
        start_collectives(&sum, requests, 1);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    if (failures == 0) {
        printf("rank %d survived\n", rank);
        fflush(stdout);
    }
    MPI_Finalize();
    return failures != 0;
}

/* The first two ranks have channels with each other, and each of them has channels with the victim. */
int main(int argc, char** argv) {
    struct channels with_victim[2], mine, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char* when = argc > 1 ? argv[1] : "use";
    victim = size - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(when, "collective") == 0) {
        return use_collectives();
    }
    if (rank == victim) {
        for (int i = 0; i < 2; ++i) {
            init(&with_victim[i], i);
        }
        if (strcmp(when, "bind") == 0) {
            /* One side of one of the channels is under way. */
            MPIX_Ibind_channel(with_victim[0].ins[1], &with_victim[0].bound[1], MPI_INFO_NULL);
            int flag;
            MPI_Test(&with_victim[0].ins[1], &flag, MPI_STATUS_IGNORE);
            raise(SIGKILL);
        }
        for (int i = 0; i < 2; ++i) {
            MPIX_Bind_channels(with_victim[i].ins, with_victim[i].bound, 2, NULL);
            use(&with_victim[i], i);
        }
        raise(SIGKILL);
    }
    const int partner = 1 - rank;
    init(&mine, partner);
    init(&other, victim);
    check_class(MPIX_Bind_channels(mine.ins, mine.bound, 2, NULL), MPI_SUCCESS, "binding of the others");
    use(&mine, partner);
    const int code = MPIX_Bind_channels(other.ins, other.bound, 2, NULL);
    if (strcmp(when, "bind") == 0) {
        check_class(code, MPI_ERR_PROC_ABORTED, "binding");
        /* Again, now that the failure is known. */
        for (int i = 0; i < 2; ++i) {
            if (other.bound[i] == MPI_REQUEST_NULL) {
                check_class(MPIX_Bind_channel(other.ins[i], &other.bound[i], MPI_INFO_NULL), MPI_ERR_PROC_ABORTED,
                    "binding again");
            }
        }
    } else {
        check_class(code, MPI_SUCCESS, "binding with the victim");
        use(&other, victim);
    }
    if (strcmp(when, "use") == 0) {
        for (int round = 0; round < 3; ++round) {
            int start = MPI_Start(&other.bound[1]);
            check_class(start != MPI_SUCCESS ? start : MPI_Wait(&other.bound[1], MPI_STATUS_IGNORE),
                MPI_ERR_PROC_ABORTED, "a receive");
        }
    }
    for (int i = 0; i < 2; ++i) {
        if (other.bound[i] != MPI_REQUEST_NULL) {
            check_class(MPIX_Unbind_channel(&other.bound[i]), MPI_ERR_PROC_ABORTED, "unbinding");
            if (other.bound[i] != MPI_REQUEST_NULL) {
                printf("rank %d: the request has not been released\n", rank);
                ++failures;
            }
        }
    }
    use(&mine, partner);
    check_class(MPIX_Unbind_channels(mine.bound, 2), MPI_SUCCESS, "unbinding of the others");
    for (int i = 0; i < 2; ++i) {
        MPI_Request_free(&mine.ins[i]);
        MPI_Request_free(&other.ins[i]);
    }
    if (failures == 0) {
        printf("rank %d survived\n", rank);
        fflush(stdout);
    }
    MPI_Finalize();
    return failures != 0;
}
