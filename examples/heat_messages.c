/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat with messages: four receives and four sends for each step. With WAY `persistent` they are persistent requests,
   with `plain` or none MPI_Isend and MPI_Irecv.
 */
#include "heat.h"

enum { requests_of_step = 2 * sides };

static MPI_Request requests[2][requests_of_step];
static int persistent;

static void exchange_open(int steps) {
    (void)steps;
    int rank;
    persistent = strcmp(way, "persistent") == 0;
    MPI_Comm_rank(plate, &rank);
    if (*way != 0 && !persistent && strcmp(way, "plain") != 0) {
        if (rank == 0) {
            fprintf(stderr, "usage: heat_messages [POINTS [STEPS [plain|persistent]]]\n");
            MPI_Abort(plate, 1);
        }
        MPI_Barrier(plate); /* until rank 0 ends the job */
    }
    for (int i = 0; i < 2 && persistent; ++i) {
        for (int side = 0; side < sides; ++side) {
            MPI_Recv_init(frame(grid[i], side), edge_count(side), edge_type(side), neighbour[side], opposite(side),
                plate, &requests[i][side]);
            MPI_Send_init(edge(grid[i], side), edge_count(side), edge_type(side), neighbour[side], side, plate,
                &requests[i][sides + side]);
        }
    }
}

static void exchange(int step) {
    const int i = step % 2;
    if (persistent) {
        MPI_Startall(requests_of_step, requests[i]);
    } else {
        for (int side = 0; side < sides; ++side) {
            MPI_Irecv(frame(grid[i], side), edge_count(side), edge_type(side), neighbour[side], opposite(side), plate,
                &requests[i][side]);
        }
        for (int side = 0; side < sides; ++side) {
            MPI_Isend(edge(grid[i], side), edge_count(side), edge_type(side), neighbour[side], side, plate,
                &requests[i][sides + side]);
        }
    }
    MPI_Waitall(requests_of_step, requests[i], MPI_STATUSES_IGNORE);
}

static void exchange_close(int steps) {
    (void)steps;
    for (int i = 0; i < 2 * requests_of_step && persistent; ++i) {
        MPI_Request_free(&requests[i / requests_of_step][i % requests_of_step]);
    }
}
