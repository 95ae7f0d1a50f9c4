/* SPDX-License-Identifier: BSD-3-Clause */
/* The first messages on a communicator whose local index differs from process to process. The argument:
     late        one process makes its communicators after the messages on them have arrived
     both        both processes send before they receive
     many        1,000 communicators at once; all processes send to all others before they receive
     apart       the same, and half of the processes have sent on a communicator before the others make it
     cancelled   the message that carries the exCID handshake is cancelled
     persistent  the first messages come from persistent requests
     freed       the sender frees the communicator before the CID acknowledgement arrives
     flood       the messages exceed pml_ob1_unexpected_limit at the receiver
     stream      the sender never waits in MPI */
#define _GNU_SOURCE /* usleep, mkstemp */
#include "tests/mpi_check/check.h"
#include "tests/mpi_check/shared_ints.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

enum { long_count = 1 << 17 }; /* doubles: 1 MiB */
static double sent_text[long_count], got_text[long_count];

static int* stage; /* the progress of rank 0, which rank 1 reads without a message */

/* Calls MPI progress, so that messages arrive without being received. */
static void poll(void) {
    int flag;
    for (int i = 0; i < 1000; ++i) {
        MPI_Iprobe(MPI_ANY_SOURCE, 30000, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* no such message exists */
    }
}

static void poll_until_sent(void) {
    while (shared_get(stage) == 0) {
        poll();
    }
    poll(); /* for the messages that were sent last */
}

/* Makes the next local index differ between the processes. */
static void shift_indices(MPI_Comm* extra) {
    for (int i = 0; i <= rank; ++i) {
        MPI_Comm_dup(MPI_COMM_SELF, &extra[i]);
    }
}

enum { kinds = 6, late_count = 1000 };

static void send_first(MPI_Comm comm, int i, MPI_Request* request, const int* label) {
    switch (i % kinds) {
    case 0:
        MPI_Isend(label, 1, MPI_INT, 1, 7, comm, request);
        break;
    case 1:
        MPI_Issend(label, 1, MPI_INT, 1, 7, comm, request);
        break;
    case 2:
        MPI_Isend(sent_text, i % 5 == 0 ? long_count : 10000, MPI_DOUBLE, 1, 7, comm, request);
        break;
    case 3: /* late() cancels this one */
        MPI_Isend(label, 1, MPI_INT, 1, 8, comm, request);
        break;
    case 4:
        MPI_Ibsend(label, 1, MPI_INT, 1, 7, comm, request);
        break;
    default:
        MPI_Issend(NULL, 0, MPI_INT, 1, 7, comm, request);
    }
}

static void receive_first(MPI_Comm comm, int i) {
    int got = -1, count = 0;
    MPI_Message message;
    MPI_Status status;
    switch (i % kinds) {
    case 2:
        MPI_Mprobe(0, MPI_ANY_TAG, comm, &message, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK(count == (i % 5 == 0 ? long_count : 10000));
        got_text[count - 1] = 0;
        MPI_Mrecv(got_text, count, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
        CHECK(got_text[0] == 0 && got_text[count - 1] == count - 1);
        break;
    case 5:
        MPI_Recv(NULL, 0, MPI_INT, 0, 7, comm, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 0);
        break;
    default:
        MPI_Recv(&got, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE);
        CHECK(got == i);
    }
}

static void late(void) {
    static MPI_Comm comms[late_count];
    static MPI_Request requests[late_count];
    static int labels[late_count];
    void* buffer;
    int buffer_size = late_count * (MPI_BSEND_OVERHEAD + 16);
    MPI_Status status;
    for (int i = 0; i < long_count; ++i) {
        sent_text[i] = i;
    }
    MPI_Buffer_attach(buffer = malloc((size_t)buffer_size), buffer_size);
    if (rank == 1) {
        poll_until_sent();
    }
    for (int i = 0; i < late_count; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        labels[i] = i;
    }
    for (int i = 0; i < late_count && rank == 0; ++i) {
        send_first(comms[i], i, &requests[i], &labels[i]);
    }
    if (rank == 0) {
        shared_set(stage, 1);
    }
    for (int i = 0; i < late_count && rank == 0; ++i) {
        if (i % kinds == 3) {
            int cancelled = 0;
            MPI_Cancel(&requests[i]);
            MPI_Wait(&requests[i], &status);
            MPI_Test_cancelled(&status, &cancelled);
            CHECK(cancelled); /* no receive matches tag 8 */
            MPI_Isend(&labels[i], 1, MPI_INT, 1, 7, comms[i], &requests[i]);
        }
    }
    for (int i = late_count - 1; i >= 0 && rank == 1; --i) {
        receive_first(comms[i], i);
    }
    if (rank == 0) {
        MPI_Waitall(late_count, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < late_count; ++i) { /* messages in the other direction */
        int got = i;
        if (rank == 1) {
            MPI_Send(&got, 1, MPI_INT, 0, 9, comms[i]);
        } else if (rank == 0) {
            MPI_Recv(&got, 1, MPI_INT, 1, 9, comms[i], MPI_STATUS_IGNORE);
            CHECK(got == i);
        }
        MPI_Comm_free(&comms[i]);
    }
    MPI_Buffer_detach(&buffer, &buffer_size);
    free(buffer);
}

/* A batch fits into the smallest ring, so that no process has to poll before it has sent all of the batch. */
static void both(void) {
    enum { batch = 4, batches = 250 };
    MPI_Comm comms[batch];
    MPI_Request requests[batch];
    int labels[batch];
    const int peer = rank ^ 1;
    for (int b = 0; b < batches; ++b) {
        for (int i = 0; i < batch; ++i) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        }
        for (int i = 0; i < batch; ++i) {
            labels[i] = b * batch + i;
            MPI_Isend(&labels[i], 1, MPI_INT, peer, 0, comms[i], &requests[i]);
        }
        for (int n = 0; n < 3; ++n) {
            for (int i = batch - 1; i >= 0; --i) {
                int got = -1;
                MPI_Recv(&got, 1, MPI_INT, peer, n, comms[i], MPI_STATUS_IGNORE);
                CHECK(got == labels[i]);
                if (n < 2) {
                    MPI_Send(&labels[i], 1, MPI_INT, peer, n + 1, comms[i]);
                }
            }
        }
        MPI_Waitall(batch, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < batch; ++i) {
            MPI_Comm_free(&comms[i]);
        }
    }
}

/* With `apart`, processes of even rank make and use the first half of the communicators while the others make and use
   the second half; then each process makes the half on which the others have already sent. A parent has no more
   children than one PGCID has exCIDs for, so that no constructor needs a group reduction for a new PGCID. */
static void many(int apart) {
    enum { parent_count = 4, per_parent = 250, count = parent_count * per_parent };
    static MPI_Comm parents[2][parent_count], comms[2][count];
    static int texts[2][count];
    MPI_Request* requests = malloc(2 * count * (size_t)size * sizeof *requests);
    int sent = 0;
    for (int i = 0; i < 2 * parent_count; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &parents[i / parent_count][i % parent_count]);
    }
    for (int step = 0; step < 2; ++step) {
        const int half = apart ? (rank + step) % 2 : step;
        for (int i = 0; i < count; ++i) {
            MPI_Comm_dup(parents[half][i / per_parent], &comms[half][i]);
            texts[half][i] = (rank * 2 + half) * count + i;
            for (int to = (rank + 1) % size; to != rank; to = (to + 1) % size) {
                MPI_Isend(&texts[half][i], 1, MPI_INT, to, 0, comms[half][i], &requests[sent++]);
            }
        }
        if (apart) {
            MPI_Barrier(MPI_COMM_WORLD); /* all messages of this half are sent */
        }
    }
    for (int round = 0; round < 2; ++round) { /* the second round comes after the exCID handshake */
        for (int i = 2 * count - 1; i >= 0; --i) {
            for (int from = (rank + 1) % size; from != rank; from = (from + 1) % size) {
                int got = -1;
                MPI_Recv(&got, 1, MPI_INT, from, round, comms[i % 2][i / 2], MPI_STATUS_IGNORE);
                CHECK(got == (from * 2 + i % 2) * count + i / 2);
            }
        }
        MPI_Waitall(sent, requests, MPI_STATUSES_IGNORE);
        sent = 0;
        for (int i = 0; i < 2 * count && round == 0; ++i) {
            for (int to = (rank + 1) % size; to != rank; to = (to + 1) % size) {
                MPI_Isend(&texts[i % 2][i / 2], 1, MPI_INT, to, 1, comms[i % 2][i / 2], &requests[sent++]);
            }
        }
    }
    for (int i = 0; i < 2 * count; ++i) {
        MPI_Comm_free(&comms[i % 2][i / 2]);
    }
    for (int i = 0; i < 2 * parent_count; ++i) {
        MPI_Comm_free(&parents[i / parent_count][i % parent_count]);
    }
    free(requests);
}

/* A cancelled message, which the receiver has discarded, does not count as the sender's part of the exCID handshake. */
static void cancelled(void) {
    MPI_Comm comm, extra[2];
    MPI_Request request;
    MPI_Status status;
    int text = 1, flag = 0;
    shift_indices(extra);
    if (rank == 1) {
        poll_until_sent();
    }
    if (rank == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Isend(&text, 1, MPI_INT, 1, 5, comm, &request);
        shared_set(stage, 1);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    for (int i = 0; i < 20; ++i) { /* rank 1 sends first */
        if (rank == 1) {
            MPI_Send(&text, 1, MPI_INT, 0, 6, comm);
        }
        MPI_Recv(&text, 1, MPI_INT, rank ^ 1, 6, comm, MPI_STATUS_IGNORE);
        if (rank == 0) {
            MPI_Send(&text, 1, MPI_INT, 1, 6, comm);
        }
    }
    MPI_Comm_free(&comm);
    for (int i = 0; i <= rank; ++i) {
        MPI_Comm_free(&extra[i]);
    }
}

/* Persistent sends are initialized before the exCID handshake, and started before and after it. */
static void persistent(void) {
    enum { rounds = 10, requests_count = 4 };
    MPI_Comm comm, extra[2];
    MPI_Request requests[requests_count];
    const int peer = rank ^ 1;
    shift_indices(extra);
    for (int i = 0; i < long_count; ++i) {
        sent_text[i] = i;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Send_init(sent_text, 1, MPI_DOUBLE, peer, 0, comm, &requests[0]);
    MPI_Ssend_init(sent_text, 2, MPI_DOUBLE, peer, 1, comm, &requests[1]);
    MPI_Send_init(sent_text, long_count, MPI_DOUBLE, peer, 2, comm, &requests[2]);
    MPI_Recv_init(got_text, long_count, MPI_DOUBLE, peer, MPI_ANY_TAG, comm, &requests[3]);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < requests_count - 1; ++i) {
            MPI_Status status;
            int count = 0;
            MPI_Start(&requests[i]);
            MPI_Start(&requests[3]);
            MPI_Wait(&requests[3], &status);
            MPI_Get_count(&status, MPI_DOUBLE, &count);
            CHECK(status.MPI_TAG == i && count == (i == 0 ? 1 : i == 1 ? 2 : (int)long_count));
            CHECK(got_text[count - 1] == count - 1);
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < requests_count; ++i) {
        MPI_Request_free(&requests[i]);
    }
    MPI_Comm_free(&comm);
    for (int i = 0; i <= rank; ++i) {
        MPI_Comm_free(&extra[i]);
    }
}

/* The sender frees the communicator, and makes the next one with the same local index, before the CID acknowledgement
   of its first message arrives. */
static void freed(void) {
    enum { rounds = 500 };
    for (int i = 0; i < rounds; ++i) {
        MPI_Comm comm;
        int got = -1;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (rank == i / 10 % 2) {
            MPI_Send(&i, 1, MPI_INT, rank ^ 1, 1, comm);
        } else {
            MPI_Recv(&got, 1, MPI_INT, rank ^ 1, 1, comm, MPI_STATUS_IGNORE);
            CHECK(got == i);
        }
        MPI_Comm_free(&comm);
    }
}

/* Run with pml_ob1_unexpected_limit=8KiB: the receiver sends xoff before it has made the communicator. Sends complete
   as long as the sender has not received xoff. */
enum { flood_count = 400, flood_words = 100, flood_limit = 8192 };

static int completed(MPI_Request* requests) {
    int indices[2 * flood_count], number = 0;
    MPI_Testsome(2 * flood_count, requests, &number, indices, MPI_STATUSES_IGNORE);
    return number == MPI_UNDEFINED ? 0 : number;
}

static void send_until_stopped(MPI_Request* requests) {
    for (int done = 0; shared_get(&stage[1]) == 0;) {
        done += completed(requests);
        shared_set(&stage[0], done);
    }
}

static void wait_until_stopped(void) {
    int last = 0;
    for (int still = 0; still < 50 || last < flood_limit / (int)sizeof(int[2 * flood_words]);) {
        poll();
        usleep(1000); /* the sender may have no other core */
        const int now = shared_get(&stage[0]);
        still = now == last ? still + 1 : 0;
        last = now;
    }
    CHECK(last < 2 * flood_count);
    shared_set(&stage[1], 1);
}

static void flood(void) {
    enum { count = flood_count, words = flood_words };
    static MPI_Request requests[2 * count];
    static int texts[count][words];
    MPI_Comm one, other;
    if (rank == 1) {
        wait_until_stopped();
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int i = 0; i < count && rank == 0; ++i) {
        texts[i][0] = i;
        MPI_Isend(texts[i], words, MPI_INT, 1, 0, one, &requests[2 * i]);
        MPI_Isend(texts[i], words, MPI_INT, 1, 0, other, &requests[2 * i + 1]);
    }
    if (rank == 0) {
        send_until_stopped(requests);
        MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < count && rank == 1; ++i) {
        int got[words];
        MPI_Recv(got, words, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
        CHECK(got[0] == i);
    }
    for (int i = 0; i < count && rank == 1; ++i) {
        int got[words];
        MPI_Recv(got, words, MPI_INT, 0, 0, one, MPI_STATUS_IGNORE);
        CHECK(got[0] == i);
    }
    MPI_Comm_free(&one);
    MPI_Comm_free(&other);
}

/* Messages in one direction only: the sender handles the CID acknowledgement while it sends. */
static void stream(void) {
    enum { count = 100 };
    MPI_Comm comm, extra[2];
    shift_indices(extra);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < count; ++i) {
        int got = -1;
        if (rank == 1) {
            MPI_Recv(&got, 1, MPI_INT, 0, 4, comm, MPI_STATUS_IGNORE);
            CHECK(got == i);
        } else if (i % 2 == 0) {
            MPI_Send(&i, 1, MPI_INT, 1, 4, comm);
        } else {
            MPI_Request request;
            MPI_Isend(&i, 1, MPI_INT, 1, 4, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        if (rank == 0) {
            usleep(3000);
        }
    }
    MPI_Comm_free(&comm);
    for (int i = 0; i <= rank; ++i) {
        MPI_Comm_free(&extra[i]);
    }
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int apart = strcmp(what, "apart") == 0;
    stage = shared_ints(MPI_COMM_WORLD, 2);
    CHECK(size == 2 || apart || strcmp(what, "many") == 0);
    if (strcmp(what, "late") == 0) {
        late();
    } else if (apart || strcmp(what, "many") == 0) {
        many(apart);
    } else if (strcmp(what, "both") == 0) {
        both();
    } else if (strcmp(what, "cancelled") == 0) {
        cancelled();
    } else if (strcmp(what, "persistent") == 0) {
        persistent();
    } else if (strcmp(what, "freed") == 0) {
        freed();
    } else if (strcmp(what, "flood") == 0) {
        flood();
    } else if (strcmp(what, "stream") == 0) {
        stream();
    } else {
        CHECK(!"known argument");
    }
    MPI_Finalize();
    return failures();
}
