/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/* An MPI program for mpi_connect_test.py: carries out its arguments one after the other. Rank 0 prints the results.
 *
 *   open FILE, close              a port, whose name is written to the file
 *   accept COMM N                 N connections one after the other, each of which is used for everything. COMM is
 *                                 world, self, family (the world and two processes that it spawns) or pair (the world
 *                                 and a job that connects first, as a partner)
 *   connect COMM FILE N           the other side
 *   partner FILE N                connects, and accepts N connections together with that process
 *   class accept|connect FILE LIMIT    prints the error class of a connection that cannot be
 *   receive accept|connect FILE   connects, makes a file, and waits for a message; prints the error class. All processes
 *                                 get an error from MPI_Intercomm_merge then, and end the connection
 *   fatal yes                     receive uses the default error handler
 *   publish NAME, unpublish NAME  the port
 *   lookup NAME FILE              writes it to a file; waits two seconds at most
 *   join FD                       MPI_Comm_join, twice
 *   joinclass FD                  prints the error class of one that fails
 *   touch FILE, await FILE        make a file; wait until it exists */
/* clang-format on */
#include "tests/mpi_check/check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 200000 };

static char port[MPI_MAX_PORT_NAME];
static char* program;
static int shared_size; /* processes of this run in each connection, unless all of a side */
static int fatal;

static void touch(const char* file, const char* text) {
    char part[4096];
    snprintf(part, sizeof part, "%s.part", file);
    FILE* stream = fopen(part, "w");
    CHECK(stream != NULL && fputs(text, stream) >= 0 && fclose(stream) == 0 && rename(part, file) == 0);
}

static void await(const char* file) {
    const struct timespec pause = {0, 5000000};
    while (access(file, F_OK) != 0) {
        nanosleep(&pause, NULL);
    }
}

static void read_port(const char* file) {
    await(file);
    FILE* stream = fopen(file, "r");
    CHECK(stream != NULL && fgets(port, sizeof port, stream) != NULL);
    fclose(stream);
}

static int sum_to(int n) {
    return n * (n - 1) / 2;
}

/* Each process sends to each process of the other side, a small and a large message. */
static void check_messages(MPI_Comm inter, int rank, int remote) {
    int* out = malloc(LARGE * sizeof(int));
    int* in = malloc((size_t)remote * LARGE * sizeof(int));
    MPI_Request* requests = malloc(2 * (size_t)remote * sizeof(MPI_Request));
    for (int i = 0; i < LARGE; ++i) {
        out[i] = rank * 1000 + i % 991;
    }
    for (int count = 1; count <= LARGE; count += LARGE - 1) {
        memset(in, 0xff, (size_t)remote * LARGE * sizeof(int));
        for (int peer = 0; peer < remote; ++peer) {
            CHECK_OK(MPI_Irecv(in + peer * LARGE, count, MPI_INT, peer, count, inter, &requests[2 * peer]));
            CHECK_OK(MPI_Isend(out, count, MPI_INT, peer, count, inter, &requests[2 * peer + 1]));
        }
        CHECK_OK(MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE));
        for (int peer = 0; peer < remote; ++peer) {
            int wrong = 0;
            for (int i = 0; i < count; ++i) {
                wrong += in[peer * LARGE + i] != peer * 1000 + i % 991;
            }
            CHECK_EQUAL(wrong, 0);
        }
    }
    free(out);
    free(in);
    free(requests);
}

static void check_reduction(MPI_Comm comm, int size) {
    int rank = -1, sum = -1;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQUAL(sum, sum_to(size));
}

/* Communicators with members of both sides, made in every way. */
static void check_merged(MPI_Comm inter, int accepts, int local, int remote) {
    MPI_Comm merged, copy, half, even, shared, grouped;
    MPI_Group group, evens;
    int rank = -1, size = 0;
    CHECK_OK(MPI_Intercomm_merge(inter, !accepts, &merged));
    CHECK_OK(MPI_Comm_rank(merged, &rank));
    CHECK_OK(MPI_Comm_size(merged, &size));
    CHECK_EQUAL(size, local + remote);
    check_reduction(merged, size);
    int* words = calloc(LARGE, sizeof(int));
    words[LARGE - 1] = rank == size - 1 ? 17 : 0;
    CHECK_OK(MPI_Bcast(words, LARGE, MPI_INT, size - 1, merged));
    CHECK_EQUAL(words[LARGE - 1], 17);
    free(words);
    CHECK_OK(MPI_Comm_dup(merged, &copy));
    check_reduction(copy, size);
    CHECK_OK(MPI_Comm_split(copy, rank % 2, 0, &half));
    check_reduction(half, rank % 2 == 0 ? (size + 1) / 2 : size / 2);
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Comm_group(copy, &group));
    CHECK_OK(MPI_Group_range_incl(group, 1, (int[1][3]){{0, size - 1, 2}}, &evens));
    if (rank % 2 == 0) {
        CHECK_OK(MPI_Comm_create_group(copy, evens, 5, &even));
        check_reduction(even, (size + 1) / 2);
        CHECK_OK(MPI_Comm_free(&even));
    }
    CHECK_OK(MPI_Comm_create_from_group(group, "both sides", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &grouped));
    check_reduction(grouped, size);
    CHECK_OK(MPI_Comm_disconnect(&grouped));
    /* No memory is shared by processes of different mpirun. */
    CHECK_OK(MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared));
    check_reduction(shared, shared_size > 0 ? shared_size : local);
    CHECK_OK(MPI_Comm_free(&shared));
    MPI_Group_free(&evens);
    MPI_Group_free(&group);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_disconnect(&merged));
}

static void check_connection(MPI_Comm inter, int accepts) {
    int rank = -1, local = 0, remote = 0, sum = -1;
    MPI_Comm copy;
    CHECK_OK(MPI_Comm_rank(inter, &rank));
    CHECK_OK(MPI_Comm_size(inter, &local));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    check_messages(inter, rank, remote);
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    CHECK_EQUAL(sum, sum_to(remote));
    CHECK_OK(MPI_Barrier(inter));
    CHECK_OK(MPI_Comm_dup(inter, &copy));
    check_messages(copy, rank, remote);
    CHECK_OK(MPI_Comm_free(&copy));
    check_merged(inter, accepts, local, remote);
}

static void use_connections(int accepts, const char* which, int count) {
    MPI_Comm family = MPI_COMM_NULL, children = MPI_COMM_NULL, comm = MPI_COMM_WORLD;
    if (strcmp(which, "self") == 0) {
        comm = MPI_COMM_SELF;
    } else if (strcmp(which, "family") == 0) {
        char number[16];
        char* arguments[] = {accepts ? "child-accept" : "child-connect", number, NULL};
        snprintf(number, sizeof number, "%d", count);
        CHECK_OK(
            MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE));
        CHECK_OK(MPI_Intercomm_merge(children, 0, &family));
        comm = family;
    }
    if (strcmp(which, "pair") == 0) {
        CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children));
        CHECK_OK(MPI_Intercomm_merge(children, 0, &family));
        CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &shared_size));
        comm = family;
    }
    for (int i = 0; i < count; ++i) {
        MPI_Comm inter = MPI_COMM_NULL;
        if (accepts) {
            CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &inter));
        } else {
            CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &inter));
        }
        if (inter == MPI_COMM_NULL) {
            return;
        }
        check_connection(inter, accepts);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    if (family != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_free(&family));
        CHECK_OK(MPI_Comm_disconnect(&children));
    }
}

/* Takes part in the connections that rank 0 of the other job accepts. */
static void be_partner(const char* file, int count) {
    char name[4096];
    int rank = 0;
    MPI_Comm other = MPI_COMM_NULL, pair = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other));
    CHECK_OK(MPI_Intercomm_merge(other, 1, &pair));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &shared_size));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        snprintf(name, sizeof name, "%s.pair", file);
        touch(name, "");
    }
    for (int i = 0; i < count; ++i) {
        MPI_Comm inter = MPI_COMM_NULL;
        CHECK_OK(MPI_Comm_accept("", MPI_INFO_NULL, 0, pair, &inter));
        check_connection(inter, 1);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    CHECK_OK(MPI_Comm_free(&pair));
    CHECK_OK(MPI_Comm_disconnect(&other));
}

static void look_up(const char* name, const char* file) {
    const double deadline = MPI_Wtime() + 2;
    const struct timespec pause = {0, 5000000};
    int code = MPI_ERR_NAME;
    while (code != MPI_SUCCESS && MPI_Wtime() < deadline) {
        code = MPI_Lookup_name(name, MPI_INFO_NULL, port);
        nanosleep(&pause, NULL);
    }
    if (code == MPI_SUCCESS) {
        touch(file, port);
    }
}

/* A process that was spawned takes part in the connections of its parents. */
static int child(const char* what, int count) {
    MPI_Comm parent = MPI_COMM_NULL, family = MPI_COMM_NULL;
    const int accepts = strcmp(what, "child-accept") == 0;
    MPI_Comm_get_parent(&parent);
    CHECK_OK(MPI_Intercomm_merge(parent, 1, &family));
    for (int i = 0; i < count; ++i) {
        MPI_Comm inter = MPI_COMM_NULL;
        if (accepts) {
            CHECK_OK(MPI_Comm_accept("", MPI_INFO_NULL, 0, family, &inter));
        } else {
            CHECK_OK(MPI_Comm_connect("", MPI_INFO_NULL, 0, family, &inter));
        }
        check_connection(inter, accepts);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    CHECK_OK(MPI_Comm_free(&family));
    CHECK_OK(MPI_Comm_disconnect(&parent));
    return finish();
}

static void print_class(int code) {
    const int class = class_of(code);
    puts(class == MPI_SUCCESS               ? "done"
            : class == MPI_ERR_PORT         ? "MPI_ERR_PORT"
            : class == MPI_ERR_PROC_ABORTED ? "MPI_ERR_PROC_ABORTED"
                                            : "another error");
    fflush(stdout);
}

static int connect_or_accept(const char* what, const char* limit, MPI_Comm* inter) {
    MPI_Info info;
    MPI_Info_create(&info);
    if (limit != NULL) {
        MPI_Info_set(info, "timeout", limit);
    }
    const int code = strcmp(what, "accept") == 0 ? MPI_Comm_accept(port, info, 0, MPI_COMM_WORLD, inter)
                                                 : MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, inter);
    MPI_Info_free(&info);
    return code;
}

static void receive(const char* what, const char* file) {
    char name[4096];
    int rank = -1, word = 0;
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK_OK(connect_or_accept(what, NULL, &inter));
    MPI_Comm_set_errhandler(inter, fatal ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN);
    MPI_Comm_rank(inter, &rank);
    snprintf(name, sizeof name, "%s.%s.%d", file, what, rank);
    touch(name, "connected");
    const int code = MPI_Recv(&word, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
    print_class(code);
    print_class(MPI_Send(&word, 1, MPI_INT, 0, 0, inter)); /* the second one of two fails as the first */
    MPI_Comm merged = MPI_COMM_NULL;
    CHECK(MPI_Intercomm_merge(inter, 0, &merged) != MPI_SUCCESS);
    CHECK(merged == MPI_COMM_NULL);
    MPI_Comm_disconnect(&inter);
    if (inter != MPI_COMM_NULL) {
        MPI_Comm_free(&inter);
    }
}

static void join(int fd) {
    for (int i = 0; i < 2; ++i) {
        MPI_Comm inter = MPI_COMM_NULL;
        int mine = i, theirs = -1;
        CHECK_OK(MPI_Comm_join(fd, &inter));
        CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_INT, 0, 1, &theirs, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE));
        CHECK_EQUAL(theirs, i);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    program = argv[0];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (char** word = argv + 1; *word != NULL; word += 2) {
        if (strncmp(*word, "child-", 6) == 0) {
            return child(word[0], atoi(word[1]));
        }
        if (strcmp(*word, "open") == 0) {
            if (rank == 0) {
                CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
                touch(word[1], port);
            }
        } else if (strcmp(*word, "close") == 0) {
            if (rank == 0) {
                CHECK_OK(MPI_Close_port(port));
            }
            --word;
        } else if (strcmp(*word, "accept") == 0) {
            use_connections(1, word[1], atoi(word[2]));
            ++word;
        } else if (strcmp(*word, "connect") == 0) {
            read_port(word[2]);
            use_connections(0, word[1], atoi(word[3]));
            word += 2;
        } else if (strcmp(*word, "class") == 0) {
            MPI_Comm inter = MPI_COMM_NULL;
            read_port(word[2]);
            print_class(connect_or_accept(word[1], word[3], &inter));
            CHECK(inter == MPI_COMM_NULL);
            word += 2;
        } else if (strcmp(*word, "receive") == 0) {
            read_port(word[2]);
            receive(word[1], word[2]);
            ++word;
        } else if (strcmp(*word, "partner") == 0) {
            read_port(word[1]);
            be_partner(word[1], atoi(word[2]));
            ++word;
        } else if (strcmp(*word, "publish") == 0) {
            if (rank == 0) {
                CHECK_OK(MPI_Publish_name(word[1], MPI_INFO_NULL, port));
            }
        } else if (strcmp(*word, "unpublish") == 0) {
            if (rank == 0) {
                CHECK_OK(MPI_Unpublish_name(word[1], MPI_INFO_NULL, port));
            }
        } else if (strcmp(*word, "lookup") == 0) {
            look_up(word[1], word[2]);
            ++word;
        } else if (strcmp(*word, "fatal") == 0) {
            fatal = 1;
        } else if (strcmp(*word, "join") == 0) {
            join(atoi(word[1]));
        } else if (strcmp(*word, "joinclass") == 0) {
            MPI_Comm inter = MPI_COMM_NULL;
            print_class(MPI_Comm_join(atoi(word[1]), &inter));
        } else if (strcmp(*word, "touch") == 0) {
            if (rank == 0) {
                touch(word[1], "");
            }
        } else if (strcmp(*word, "await") == 0) {
            await(word[1]);
        } else {
            return 2;
        }
    }
    return finish();
}
