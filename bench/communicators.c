/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of making communicators over all ranks: MPI_Comm_dup alone and with its MPI_Comm_free, MPI_Comm_split and
   MPI_Comm_create_group with theirs. */
#include "repeat.h"

enum { most = 256 };

struct made {
    MPI_Comm comms[most];
    int count;
    int rank;
    MPI_Group group;
};

static void dup_only(void* context) {
    struct made* made = context;
    MPI_Comm_dup(MPI_COMM_WORLD, &made->comms[made->count++]);
}

static void free_all(void* context) {
    struct made* made = context;
    while (made->count > 0) {
        MPI_Comm_free(&made->comms[--made->count]);
    }
}

static void dup_free(void* context) {
    MPI_Comm comm;
    (void)context;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
}

static void split_free(void* context) {
    const struct made* made = context;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, made->rank, &comm);
    MPI_Comm_free(&comm);
}

static void create_group_free(void* context) {
    const struct made* made = context;
    MPI_Comm comm;
    MPI_Comm_create_group(MPI_COMM_WORLD, made->group, 1, &comm);
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
    static struct made made;
    const struct repeated all[] = {{"dup", dup_only, free_all, &made, most}, {"dup_free", dup_free, NULL, &made, 20000},
        {"split_free", split_free, NULL, &made, 20000}, {"create_group_free", create_group_free, NULL, &made, 20000}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &made.rank);
    MPI_Comm_group(MPI_COMM_WORLD, &made.group);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        repeat(&all[i], MPI_COMM_WORLD);
    }
    MPI_Group_free(&made.group);
    MPI_Finalize();
    return 0;
}
