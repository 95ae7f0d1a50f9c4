/* SPDX-License-Identifier: BSD-3-Clause */
/* The circular buffer over one slack channel (mpix.h): each of its starts goes to the next slot. The send is a
   synchronous one, so that the channel itself has the flow control: a block is sent when its slot can be overwritten.
 */
#include "circular_buffer.h"

#include <mpix.h>

enum { send, receive, both };

static MPI_Request requests[both], channels[both];

static void buffer_open(void) {
    char increment[16];
    int slackness[both] = {slots, slots};
    MPI_Info info, infos[both];
    snprintf(increment, sizeof increment, "%d", block);
    MPI_Info_create(&info);
    MPI_Info_set(info, "address_base_increment", increment); /* in elements; five times that is the whole buffer */
    infos[send] = infos[receive] = info;
    MPI_Ssend_init(outgoing, block, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &requests[send]);
    MPI_Recv_init(incoming, block, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD, &requests[receive]);
    MPIX_Bind_slack_channels(requests, channels, both, slackness, infos);
    MPI_Info_free(&info);
    for (int i = 0; i < slots; ++i) {
        MPI_Start(&channels[receive]);
    }
}

/* A wait completes the oldest start. */
static void buffer_may_fill(long number) {
    if (number >= slots) {
        MPI_Wait(&channels[send], MPI_STATUS_IGNORE);
    }
}

static void buffer_filled(long number) {
    (void)number;
    MPI_Start(&channels[send]);
}

static void buffer_may_read(long number) {
    (void)number;
    MPI_Wait(&channels[receive], MPI_STATUS_IGNORE);
}

static void buffer_was_read(long number, long blocks) {
    if (number + slots < blocks) {
        MPI_Start(&channels[receive]);
    }
}

/* The starts that are outstanding. With fewer blocks than slots some receives have no block: they get one that nobody
   reads. */
static void buffer_close(long blocks) {
    for (long number = blocks; number < slots; ++number) {
        MPI_Start(&channels[send]);
    }
    for (int i = 0; i < slots; ++i) {
        MPI_Wait(&channels[send], MPI_STATUS_IGNORE);
    }
    for (long number = blocks; number < slots; ++number) {
        MPI_Wait(&channels[receive], MPI_STATUS_IGNORE);
    }
    MPIX_Unbind_channels(channels, both);
    for (int i = 0; i < both; ++i) {
        MPI_Request_free(&requests[i]);
    }
}
