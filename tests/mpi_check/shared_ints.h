/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PATCHBAY_TESTS_SHARED_INTS_H
#define PATCHBAY_TESTS_SHARED_INTS_H
/* Numbers that all members of a communicator on one node see, so that a process can wait for another one without
 * calling MPI. Sources include it first, or define _GNU_SOURCE. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Collective: `count` numbers that are 0. The mapping stays until the process ends. */
static inline int* shared_ints(MPI_Comm comm, int count) {
    char name[] = "/tmp/patchbay_test_XXXXXX";
    const size_t bytes = sizeof(int) * (size_t)count;
    int rank, file = -1;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        file = mkstemp(name);
        if (file < 0 || ftruncate(file, (off_t)bytes) != 0) {
            perror(name);
            MPI_Abort(comm, 1);
        }
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm);
    file = rank == 0 ? file : open(name, O_RDWR);
    void* numbers = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (numbers == MAP_FAILED) {
        perror(name);
        MPI_Abort(comm, 1);
    }
    MPI_Barrier(comm);
    if (rank == 0) {
        unlink(name);
    }
    close(file);
    return (int*)numbers;
}

static inline int shared_get(const int* number) {
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

static inline void shared_set(int* number, int value) {
    __atomic_store_n(number, value, __ATOMIC_RELEASE);
}
#endif
