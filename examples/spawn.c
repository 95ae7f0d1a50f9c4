/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_spawn_multiple: the processes of mpirun start two children, each with arguments and a directory of its own.
 * All merge into one communicator, add up a number of each process, and disconnect. Usage: mpirun -n 1 ./spawn */
#define _XOPEN_SOURCE 700 /* realpath */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The sum of rank + 1 over the parents and the children, which each member gets. Returns the number of mistakes. */
static int add_up(MPI_Comm others, int are_children, const char* role) {
    MPI_Comm all;
    int rank, size, mine, sum = 0;
    MPI_Intercomm_merge(others, are_children, &all); /* the parents have the first ranks */
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all);
    printf("%s is rank %d of %d: the sum is %d\n", role, rank, size, sum);
    MPI_Comm_disconnect(&all);
    return sum != size * (size + 1) / 2;
}

static int run_child(MPI_Comm parents, int argc, char** argv) {
    char here[PATH_MAX] = "";
    int rank, number = 0;
    void* value = NULL;
    int found = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &found);
    if (found) {
        number = *(int*)value; /* the command by which this process was started */
    }
    const char* role = argc > 1 ? argv[1] : "";
    const char* wanted = argc > 2 ? argv[2] : "";
    int wrong = !found || number != rank;
    wrong += strcmp(role, rank == 0 ? "reader" : "writer") != 0;
    wrong += getcwd(here, sizeof here) == NULL || strcmp(here, wanted) != 0;
    wrong += add_up(parents, 1, role);
    MPI_Comm_disconnect(&parents);
    return wrong;
}

static int run_parent(const char* program) {
    char path[PATH_MAX];
    const char* self = strchr(program, '/') != NULL && realpath(program, path) != NULL ? path : program;
    char* commands[2] = {(char*)self, (char*)self};
    char* of_reader[] = {"reader", "/", NULL};
    char* of_writer[] = {"writer", "/usr", NULL};
    char** arguments[2] = {of_reader, of_writer};
    const int numbers[2] = {1, 1};
    int codes[2] = {-1, -1};
    MPI_Info infos[2];
    MPI_Comm children;
    for (int i = 0; i < 2; ++i) {
        MPI_Info_create(&infos[i]);
        MPI_Info_set(infos[i], "wdir", arguments[i][1]);
    }
    MPI_Comm_spawn_multiple(2, commands, arguments, numbers, infos, 0, MPI_COMM_WORLD, &children, codes);
    for (int i = 0; i < 2; ++i) {
        MPI_Info_free(&infos[i]);
    }
    const int wrong = (codes[0] != MPI_SUCCESS) + (codes[1] != MPI_SUCCESS) + add_up(children, 0, "parent");
    MPI_Comm_disconnect(&children);
    return wrong;
}

int main(int argc, char** argv) {
    MPI_Comm parents;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    const int wrong = parents != MPI_COMM_NULL ? run_child(parents, argc, argv) : run_parent(argv[0]);
    MPI_Finalize();
    if (wrong != 0) {
        fprintf(stderr, "spawn: %d mistakes\n", wrong);
    }
    return wrong != 0;
}
