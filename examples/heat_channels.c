/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat over bundles of eight channels (mpix.h), one for the even and one for the odd steps.

   A channel is ready: its receive is started before its send. So a process starts, together with the sends of step i,
   the receives of step i + 1, which go to the frame of the other grid: a neighbour sends for step i + 1 when it has
   received what this process has sent for step i. bundle[i % 2] has these eight. The wait before step i is for the
   bundle of step i - 1, in which the receives of step i are. */
#include "heat.h"

#include <mpix.h>

static MPI_Request requests[4 * sides], channels[4 * sides], bundle[2];

/* By the grid that they receive into, or send from. */
static MPI_Request* receives(int of) {
    return channels + 2 * sides * of;
}
static MPI_Request* sends(int of) {
    return receives(of) + sides;
}

static void make_bundle(int of) {
    MPI_Request members[2 * sides];
    memcpy(members, receives(1 - of), sides * sizeof *members); /* started first */
    memcpy(members + sides, sends(of), sides * sizeof *members);
    MPIX_Bundle_init(2 * sides, members, MPI_INFO_NULL, &bundle[of]);
}

static void exchange_open(int steps) {
    (void)steps;
    for (int i = 0; i < 2; ++i) {
        for (int side = 0; side < sides; ++side) {
            MPI_Recv_init(frame(grid[i], side), edge_count(side), edge_type(side), neighbour[side],
                sides * i + opposite(side), plate, &requests[2 * sides * i + side]);
            MPI_Send_init(edge(grid[i], side), edge_count(side), edge_type(side), neighbour[side], sides * i + side,
                plate, &requests[2 * sides * i + sides + side]);
        }
    }
    MPIX_Bind_channels(requests, channels, 4 * sides, NULL);
    /* The receives of step 0 are one step ahead of the bundle in which they are. */
    MPI_Startall(sides, receives(0));
    make_bundle(0);
    MPI_Barrier(plate);
}

static void exchange(int step) {
    if (step == 0) {
        MPI_Start(&bundle[0]);
        MPI_Waitall(sides, receives(0), MPI_STATUSES_IGNORE);
        make_bundle(1);
        return;
    }
    MPI_Start(&bundle[step % 2]);
    MPI_Wait(&bundle[1 - step % 2], MPI_STATUS_IGNORE);
}

/* The last bundle receives for a step that is not made: its sends are those of the other bundle, which ends here. */
static void exchange_close(int steps) {
    const int last = (steps - 1) % 2;
    MPI_Request_free(&bundle[1 - last]);
    MPI_Barrier(plate); /* all have started these receives */
    MPI_Startall(sides, sends(1 - last));
    MPI_Wait(&bundle[last], MPI_STATUS_IGNORE);
    MPI_Waitall(sides, sends(1 - last), MPI_STATUSES_IGNORE);
    MPI_Request_free(&bundle[last]);
    MPIX_Unbind_channels(channels, 4 * sides);
    for (int i = 0; i < 4 * sides; ++i) {
        MPI_Request_free(&requests[i]);
    }
}
