/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether large messages really go by process_vm_readv(2). The program has that function itself, in the place of the C
 * library's, and counts the bytes that it moves. Argument: "cma" (single copy is asked for: it carries all data),
 * "none" (it is never called), "refused" (the kernel refuses it from the start: data come all the same) or "later" (the
 * kernel refuses it after a few messages). */
#define _GNU_SOURCE
#include "tests/mpi_check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { bytes = 1 << 21, rounds = 10, allowed_rounds = 3 };

static long calls, refusals, moved, allowed = -1;

__attribute__((visibility("default"))) ssize_t process_vm_readv(pid_t pid, const struct iovec* local,
    unsigned long local_count, const struct iovec* remote, unsigned long remote_count, unsigned long flags) {
    ++calls;
    if (allowed >= 0 && moved >= allowed) {
        ++refusals;
        errno = EPERM;
        return -1;
    }
    const ssize_t got = syscall(SYS_process_vm_readv, (long)pid, local, local_count, remote, remote_count, flags);
    moved += got > 0 ? got : 0;
    return got;
}

/* Each rank receives `rounds` messages; returns how many bytes the reads moved meanwhile. */
static long exchange(int rank, int size) {
    static unsigned char out[bytes], in[bytes];
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    const long before = moved;
    for (int round = 0; round < rounds; round++) {
        memset(out, rank * 16 + round, bytes);
        memset(in, 0xff, bytes);
        MPI_Sendrecv(
            out, bytes, MPI_BYTE, next, 1, in, bytes, MPI_BYTE, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int good = 1;
        for (int i = 0; i < bytes; i++) {
            good = good && in[i] == (unsigned char)(previous * 16 + round);
        }
        CHECK(good);
    }
    return moved - before;
}

/* The same with one message that arrives in blocks of that many bytes, with gaps between them. */
static long receive_blocks(int rank, int size, int block) {
    static unsigned char out[bytes], in[2 * bytes];
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    const long before = moved;
    MPI_Datatype blocks;
    MPI_Type_vector(bytes / block, block, 2 * block, MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
    memset(out, rank + 1, bytes);
    memset(in, 0xff, 2 * bytes);
    MPI_Sendrecv(out, bytes, MPI_BYTE, next, 1, in, 1, blocks, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int good = 1;
    for (int i = 0; i < 2 * bytes; i++) {
        good = good && in[i] == (i / block % 2 == 0 ? previous + 1 : 0xff);
    }
    CHECK(good);
    MPI_Type_free(&blocks);
    return moved - before;
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "cma";
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char probe = 0;
    struct iovec self = {&probe, 1}, to = {&probe, 1};
    if (syscall(SYS_process_vm_readv, (long)getpid(), &to, 1L, &self, 1L, 0L) != 1) {
        if (rank == 0) {
            printf("SKIPPED: pt2pt/single_copy: this kernel has no process_vm_readv (%s)\n", strerror(errno));
        }
        MPI_Finalize();
        return 0;
    }
    if (strcmp(what, "refused") == 0) {
        allowed = 0;
    } else if (strcmp(what, "later") == 0) {
        allowed = (long)allowed_rounds * bytes;
    }
    const long read = exchange(rank, size), all = (long)rounds * bytes;
    fprintf(stderr, "%s: rank %d: %ld calls, %ld of them refused, %ld bytes of %ld\n", what, rank, calls, refusals,
        read, all);
    if (strcmp(what, "cma") == 0) {
        CHECK(refusals == 0 && read >= all && read < all + bytes);
        /* The kernel takes far longer for a small block than the copy of its bytes. */
        CHECK_EQUAL(receive_blocks(rank, size, 64), 0);
        CHECK_EQUAL(receive_blocks(rank, size, 16384), bytes);
    } else if (strcmp(what, "none") == 0) {
        CHECK(calls == 0);
    } else if (strcmp(what, "refused") == 0) {
        CHECK(refusals == 1 && read == 0); /* the probe is refused; there is no other call */
    } else {
        CHECK(refusals == 1 && read >= allowed && read < all);
    }
    MPI_Finalize();
    return failures();
}
