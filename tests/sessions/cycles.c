/* SPDX-License-Identifier: BSD-3-Clause */
/* A thousand times: open a session, a communicator of it, traffic, close; two sessions overlap, so that the library now
 * goes down between two cycles and now does not. Nothing grows. Without the argument "overlap" every cycle is a life of
 * the library of its own, and processes are up to a cycle apart. */
#include "tests/sessions/session_check.h"

#include <dirent.h>
#include <malloc.h>
#include <stdlib.h>

enum { cycles = 1000, settled = 300 };

struct user {
    MPI_Session session;
    MPI_Comm comm;
};

static struct user begin(void) {
    struct user made = {open_session(NULL), MPI_COMM_NULL};
    MPI_Group group = MPI_GROUP_NULL;
    CHECK(MPI_Group_from_session_pset(made.session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, "tests://sessions/cycles", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made.comm) ==
        MPI_SUCCESS);
    MPI_Group_free(&group);
    return made;
}

static void end(struct user* going) {
    CHECK(MPI_Comm_free(&going->comm) == MPI_SUCCESS);
    CHECK(MPI_Session_finalize(&going->session) == MPI_SUCCESS);
}

static void talk(MPI_Comm comm, int cycle) {
    static char big[20000];
    int rank, size, in = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    CHECK(MPI_Sendrecv(&cycle, 1, MPI_INT, to, 7, &in, 1, MPI_INT, from, 7, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(in == cycle);
    if (cycle % 10 == 0) {
        MPI_Request request;
        static char out[20000];
        MPI_Irecv(big, sizeof big, MPI_CHAR, from, 8, comm, &request);
        MPI_Send(out, sizeof out, MPI_CHAR, to, 8, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* What this process holds of the system. */
struct footprint {
    long files, threads, mappings, mapped_kib, heap;
};

static int entries(const char* name) {
    DIR* directory = opendir(name);
    int number = 0;
    while (readdir(directory) != NULL) {
        ++number;
    }
    closedir(directory);
    return number;
}

static struct footprint footprint(void) {
    struct footprint now = {entries("/proc/self/fd"), entries("/proc/self/task"), 0, 0, 0};
    char line[512];
    FILE* maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin = 0, end = 0;
        ++now.mappings;
        /* malloc's heap is counted in bytes below. */
        if (strstr(line, "[heap]") == NULL && strstr(line, "[stack]") == NULL &&
            sscanf(line, "%lx-%lx", &begin, &end) == 2) {
            now.mapped_kib += (long)((end - begin) / 1024);
        }
    }
    fclose(maps);
    const struct mallinfo2 heap = mallinfo2();
    now.heap = (long)(heap.uordblks + heap.hblkhd);
    return now;
}

static void print(const char* when, const struct footprint* is) {
    fprintf(stderr, "%s: %ld files, %ld threads, %ld mappings of %ld KiB, %ld bytes of heap\n", when, is->files,
        is->threads, is->mappings, is->mapped_kib, is->heap);
}

int main(int argc, char** argv) {
    const int overlap = argc > 1 && strcmp(argv[1], "overlap") == 0;
    const int in_job = getenv("PMIX_RANK") != NULL; /* MPI takes it out of the environment */
    struct footprint before = {0, 0, 0, 0, 0};
    struct user previous = {MPI_SESSION_NULL, MPI_COMM_NULL};
    for (int cycle = 0; cycle < cycles; ++cycle) {
        struct user current = begin();
        talk(current.comm, cycle);
        if (previous.session != MPI_SESSION_NULL) {
            talk(previous.comm, cycle);
            end(&previous);
            talk(current.comm, cycle);
        }
        if (overlap && cycle % 7 != 6) {
            previous = current;
        } else {
            end(&current);
            previous.session = MPI_SESSION_NULL;
        }
        if (cycle == settled) {
            before = footprint();
        }
    }
    if (previous.session != MPI_SESSION_NULL) {
        end(&previous);
    }
    const struct footprint after = footprint();
    /* The PMIx client library (4.2.2) loses two blocks of 48 bytes in the PMIx_Gets of each start of the library, as it
     * does in a program without MPI, and its thread may be using some more; a singleton has neither, and nothing else
     * grows. Memory belongs to malloc or is mapped, and both are counted exactly; resident memory is not, because the
     * kernel takes pages away and brings them back. */
    const long lost = !in_job ? 0 : 96L * (cycles - settled) + 4096;
    CHECK(after.files == before.files && after.threads == before.threads && after.mappings == before.mappings);
    CHECK(after.heap <= before.heap + lost);
    CHECK(after.mapped_kib == before.mapped_kib);
    print("before", &before);
    print("after", &after);
    return failures();
}
