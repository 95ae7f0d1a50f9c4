/* SPDX-License-Identifier: BSD-3-Clause */
/* The circular buffer with messages: a synchronous send for each block, and a receive for each slot. */
#include "circular_buffer.h"

static MPI_Request sends[slots], receives[slots];

static void receive(long number) {
    MPI_Irecv(
        incoming + number % slots * block, block, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD, &receives[number % slots]);
}

static void buffer_open(void) {
    for (int i = 0; i < slots; ++i) {
        sends[i] = MPI_REQUEST_NULL;
        receive(i);
    }
}

static void buffer_may_fill(long number) {
    MPI_Wait(&sends[number % slots], MPI_STATUS_IGNORE);
}

static void buffer_filled(long number) {
    MPI_Issend(outgoing + number % slots * block, block, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &sends[number % slots]);
}

static void buffer_may_read(long number) {
    MPI_Wait(&receives[number % slots], MPI_STATUS_IGNORE);
}

static void buffer_was_read(long number, long blocks) {
    if (number + slots < blocks) {
        receive(number + slots);
    }
}

static void buffer_close(long blocks) {
    MPI_Waitall(slots, sends, MPI_STATUSES_IGNORE);
    for (long number = blocks; number < slots; ++number) { /* fewer blocks than slots */
        MPI_Cancel(&receives[number]);
        MPI_Wait(&receives[number], MPI_STATUS_IGNORE);
    }
}
