/* SPDX-License-Identifier: BSD-3-Clause */
/* A request with several starts may be several times in one MPI_Waitall, which completes as many of them. MPI_Testall
 * cannot look behind the oldest one, and refuses that. */
#define _DEFAULT_SOURCE
#include "tests/mpi_check/check.h"

#include <mpix.h>
#include <unistd.h>

enum { starts = 4 };

int main(int argc, char** argv) {
    int rank, flag, data[starts] = {-1, -1, -1, -1};
    MPI_Request in, bound, all[starts];
    MPI_Status statuses[starts];
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Info_set(info, "address_base_increment", "1");
    if (rank == 0) {
        MPI_Send_init(data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &in);
    } else {
        MPI_Recv_init(data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &in);
    }
    CHECK_OK(MPIX_Bind_slack_channel(in, &bound, starts, info));
    MPI_Info_free(&info);
    for (int i = 0; i < starts; ++i) {
        all[i] = bound;
    }
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < starts; ++i) {
            data[i] = rank == 0 ? 10 * round + i : -1;
        }
        if (rank == 1) {
            CHECK_OK(MPI_Startall(starts, all));
            CHECK_EQUAL(class_of(MPI_Testall(starts, all, &flag, statuses)), MPI_ERR_REQUEST);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; rank == 0 && i < starts; ++i) {
            usleep(20000); /* the others have not come when the first one is complete */
            CHECK_OK(MPI_Start(&bound));
        }
        CHECK_OK(MPI_Waitall(starts, all, statuses));
        for (int i = 0; i < starts; ++i) {
            CHECK_EQUAL(data[i], 10 * round + i);
            if (rank == 1) {
                CHECK_EQUAL(statuses[i].MPI_SOURCE, 0);
            }
        }
        CHECK_OK(MPI_Testall(1, all, &flag, statuses)); /* none is outstanding */
        CHECK(flag);
    }
    CHECK_OK(MPIX_Unbind_channel(&bound));
    CHECK_OK(MPI_Request_free(&in));
    return finish();
}
