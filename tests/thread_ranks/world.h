/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_THREAD_RANKS_WORLD_H
#define PATCHBAY_TESTS_THREAD_RANKS_WORLD_H
/* Included before everything else in a test program whose ranks are threads (launcher.cpp). For such a program
 * MPI_COMM_WORLD is a thread communicator, and MPI_COMM_SELF one that has the calling thread alone. */
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif
/* Each returns the communicator of the calling thread. */
MPI_Comm thread_ranks_world(void);
MPI_Comm thread_ranks_self(void);
/* The launcher has initialized MPI, and finalizes it when all threads have returned. */
int thread_ranks_init(int* argc, char*** argv);
/* Errors on MPI_COMM_WORLD go to the error handler of MPI_COMM_SELF between these; the second returns its argument. */
void thread_ranks_errors_as_self(void);
int thread_ranks_errors_as_before(int code);
#ifdef __cplusplus
}
#endif

#undef MPI_COMM_WORLD
#define MPI_COMM_WORLD thread_ranks_world()
#undef MPI_COMM_SELF
#define MPI_COMM_SELF thread_ranks_self()
#define MPI_Init(argc, argv) thread_ranks_init(argc, argv)
#define MPI_Finalize() MPI_Barrier(thread_ranks_world())
/* The buffer of a process is that of all its threads; these are of one rank. Their errors are those of calls without a
 * communicator. */
#define THREAD_RANKS_ON_WORLD(call) (thread_ranks_errors_as_self(), thread_ranks_errors_as_before(call))
#define MPI_Buffer_attach(buffer, size)                                                                                \
    THREAD_RANKS_ON_WORLD(MPI_Comm_attach_buffer(thread_ranks_world(), buffer, size))
#define MPI_Buffer_attach_c(buffer, size)                                                                              \
    THREAD_RANKS_ON_WORLD(MPI_Comm_attach_buffer_c(thread_ranks_world(), buffer, size))
#define MPI_Buffer_detach(buffer, size)                                                                                \
    THREAD_RANKS_ON_WORLD(MPI_Comm_detach_buffer(thread_ranks_world(), buffer, size))
#define MPI_Buffer_detach_c(buffer, size)                                                                              \
    THREAD_RANKS_ON_WORLD(MPI_Comm_detach_buffer_c(thread_ranks_world(), buffer, size))
#define MPI_Buffer_flush() THREAD_RANKS_ON_WORLD(MPI_Comm_flush_buffer(thread_ranks_world()))
#endif
