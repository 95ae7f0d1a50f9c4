/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split_type: all ranks of the test run on one node. */
#define _GNU_SOURCE
#include "tests/mpi_check/check.h"

#include <sched.h>
#include <string.h>

static int rank, size;

static int size_of(MPI_Comm comm) {
    int value = 0;
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_size(comm, &value);
        int sum = 0, one = 1;
        CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == value);
    }
    return value;
}

static MPI_Comm split(MPI_Comm comm, int type, int key, const char* info_key, const char* info_value) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    if (info_key != NULL) {
        MPI_Info_create(&info);
        MPI_Info_set(info, info_key, info_value);
    }
    CHECK(MPI_Comm_split_type(comm, type, key, info, &made) == MPI_SUCCESS);
    if (info_key != NULL) {
        MPI_Info_free(&info);
    }
    return made;
}

static void release(MPI_Comm comm) {
    if (comm != MPI_COMM_NULL) {
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    }
}

static void test_shared(void) {
    int value;
    MPI_Comm comm = split(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, NULL, NULL);
    CHECK(size_of(comm) == size);
    CHECK(MPI_Comm_rank(comm, &value) == MPI_SUCCESS && value == size - 1 - rank);
    release(comm);
    comm = split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, NULL, NULL);
    CHECK(size_of(comm) == (rank == 0 ? 0 : size - 1));
    release(comm);
}

static void test_guided(void) {
    static const char key[] = "mpi_hw_resource_type";
    MPI_Comm comm = split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, key, "mpi_shared_memory");
    CHECK(size_of(comm) == size);
    release(comm);
    CHECK(split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, key, "tape drive") == MPI_COMM_NULL);
    CHECK(split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, NULL, NULL) == MPI_COMM_NULL);
    /* A process that is bound within one package gets a communicator of all processes bound to it; the others get
       MPI_COMM_NULL. */
    comm = split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, key, "hwloc://Package");
    CHECK(size_of(comm) <= size);
    release(comm);
}

static void test_resource_guided(void) {
    static const char key[] = "mpi_pset_name";
    MPI_Comm comm = split(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, key, "mpi://WORLD");
    CHECK(size_of(comm) == size);
    release(comm);
    comm = split(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, key, "mpi://SELF");
    CHECK(size_of(comm) == 1);
    release(comm);
}

static const char kind_key[] = "mpi_hw_resource_type";

static void get_kind(MPI_Info info, char kind[64]) {
    int length = 64, flag = 0;
    CHECK(MPI_Info_get_string(info, kind_key, &length, kind, &flag) == MPI_SUCCESS && flag);
}

/* The kind of hardware that an unguided split of `comm` found, which is the same in all of `made`: a guided split by
 * that kind gives the same communicator. `info` is what the split was given. All members of `comm` call this. */
static void check_kind(MPI_Comm comm, MPI_Comm made, MPI_Info info) {
    char kind[64] = "", passed[64] = "", firsts[64];
    int result = MPI_UNEQUAL;
    if (made != MPI_COMM_NULL) {
        MPI_Info hints;
        CHECK(MPI_Comm_get_info(made, &hints) == MPI_SUCCESS);
        get_kind(hints, kind);
        MPI_Info_free(&hints);
        memcpy(firsts, kind, sizeof kind);
        MPI_Bcast(firsts, sizeof firsts, MPI_CHAR, 0, made);
        CHECK(strcmp(kind, firsts) == 0);
        if (info != MPI_INFO_NULL) {
            get_kind(info, passed);
            CHECK(strcmp(kind, passed) == 0);
        }
    }
    MPI_Comm guided = split(comm, made != MPI_COMM_NULL ? MPI_COMM_TYPE_HW_GUIDED : MPI_UNDEFINED, 0, kind_key, kind);
    if (made != MPI_COMM_NULL) {
        CHECK(MPI_Comm_compare(guided, made, &result) == MPI_SUCCESS && result == MPI_CONGRUENT);
    }
    release(guided);
}

/* Whether each process is bound to a core of its own, as mpirun binds them when there are enough cores. */
static int all_apart(void) {
    int cpu = -1, cpus[64], apart = 1;
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE && cpu < 0; ++i) {
        cpu = CPU_ISSET(i, &set) ? i : -1;
    }
    MPI_Allgather(&cpu, 1, MPI_INT, cpus, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
        for (int j = 0; j < i; ++j) {
            apart = apart && cpus[i] != cpus[j];
        }
    }
    return apart && size > 1;
}

/* Each split gives a proper subset, until a split gives MPI_COMM_NULL. */
static void test_unguided(int with_info) {
    MPI_Comm comm = MPI_COMM_WORLD;
    int depth = 0, members = size;
    const int apart = all_apart();
    while (comm != MPI_COMM_NULL && depth < 20) {
        MPI_Comm next = MPI_COMM_NULL;
        MPI_Info info = MPI_INFO_NULL;
        if (with_info) {
            MPI_Info_create(&info);
        }
        CHECK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &next) == MPI_SUCCESS);
        CHECK(size_of(next) < members);
        CHECK(next != MPI_COMM_NULL || depth > 0 || !apart);
        check_kind(comm, next, info);
        if (with_info) {
            MPI_Info_free(&info);
        }
        members = size_of(next);
        if (comm != MPI_COMM_WORLD) {
            release(comm);
        }
        comm = next;
        ++depth;
    }
    CHECK(comm == MPI_COMM_NULL);
    /* Members that pass MPI_UNDEFINED do not change the result of the others. */
    comm = split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_HW_UNGUIDED, 0, NULL, NULL);
    CHECK(size_of(comm) < (size > 1 ? size : 1) || comm == MPI_COMM_NULL);
    release(comm);
}

int main(int argc, char** argv) {
    MPI_Info hardware;
    int keys = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_shared();
    test_guided();
    test_resource_guided();
    test_unguided(1);
    test_unguided(0);
    CHECK(MPI_Get_hw_resource_info(&hardware) == MPI_SUCCESS);
    CHECK(MPI_Info_get_nkeys(hardware, &keys) == MPI_SUCCESS && keys > 0);
    MPI_Info_free(&hardware);
    MPI_Finalize();
    return failures();
}
