/* SPDX-License-Identifier: BSD-3-Clause */
/* Included before HPCC's latency and bandwidth stage: what it calls the world is the communicator of a session. */
#include <mpi.h>
extern MPI_Comm bench_session_world;
#undef MPI_COMM_WORLD
#define MPI_COMM_WORLD bench_session_world
