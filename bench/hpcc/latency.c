/* SPDX-License-Identifier: BSD-3-Clause */
/* HPC Challenge's latency and bandwidth stage alone, as it came or (with BENCH_IN_SESSION, and the stage compiled with
   session_world.h) on the communicator of a session that is opened for it inside a program that has called MPI_Init. */
#include "../metric.h"
#include <hpcc.h>

#ifdef BENCH_IN_SESSION
MPI_Comm bench_session_world;

static void run_stage(HPCC_Params* params) {
    MPI_Session session;
    MPI_Group group;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE"); /* as the program's MPI_Init */
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "bench.hpcc", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &bench_session_world);
    main_bench_lat_bw(params);
    MPI_Comm_free(&bench_session_world);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}
#else
static void run_stage(HPCC_Params* params) {
    main_bench_lat_bw(params);
}
#endif

int main(int argc, char** argv) {
    static HPCC_Params params;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(params.outFname, sizeof params.outFname, "/dev/null");
    run_stage(&params);
    if (rank == 0) {
        metric("random_ring_latency", params.RandomlyOrderedRingLatency, "us", "lower");
        metric("natural_ring_latency", params.NaturallyOrderedRingLatency, "us", "lower");
    }
    MPI_Finalize();
    return 0;
}
