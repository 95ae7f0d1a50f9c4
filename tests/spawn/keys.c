/* SPDX-License-Identifier: BSD-3-Clause */
/* The reserved info keys of MPI_Comm_spawn. The children send what they find. */
#include "tests/spawn/family.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int rank;

struct Found {
    int size;
    int returns_errors;
    char directory[PATH_MAX];
    char variable[64];
};

static int child(MPI_Comm parent) {
    static struct Found found;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int my_rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &found.size);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    found.returns_errors = handler == MPI_ERRORS_RETURN;
    CHECK(getcwd(found.directory, sizeof found.directory) != NULL);
    const char* value = getenv("SPAWN_VARIABLE");
    strncpy(found.variable, value == NULL ? "" : value, sizeof found.variable - 1);
    CHECK(getenv("PATCHBAY_NODE_PARENT") == NULL); /* not for programs that this one starts */
    if (my_rank == 0) {
        CHECK_OK(MPI_Send(&found, sizeof found, MPI_BYTE, 0, 1, parent));
    }
    CHECK_OK(MPI_Comm_disconnect(&parent));
    return finish();
}

static struct Found spawn_with(const char* command, int maxprocs, int started, const char* const (*pairs)[2]) {
    static struct Found found;
    MPI_Info info;
    MPI_Comm inter = MPI_COMM_NULL;
    enum { most_codes = 8 };
    int codes[most_codes];
    int* const wanted = maxprocs <= most_codes ? codes : MPI_ERRCODES_IGNORE;
    MPI_Info_create(&info);
    for (; (*pairs)[0] != NULL; ++pairs) {
        MPI_Info_set(info, (*pairs)[0], (*pairs)[1]);
    }
    CHECK_OK(MPI_Comm_spawn(command, MPI_ARGV_NULL, maxprocs, info, 0, MPI_COMM_WORLD, &inter, wanted));
    for (int i = 0; i < maxprocs && wanted == codes; ++i) {
        CHECK_EQUAL(codes[i], i < started ? MPI_SUCCESS : MPI_ERR_SPAWN);
    }
    memset(&found, 0, sizeof found);
    if (rank == 0) {
        CHECK_OK(MPI_Recv(&found, sizeof found, MPI_BYTE, 0, 1, inter, MPI_STATUS_IGNORE));
        CHECK_EQUAL(found.size, started);
    }
    CHECK_OK(MPI_Comm_disconnect(&inter));
    MPI_Info_free(&info);
    return found;
}

static void check_file(const char* host) {
    char name[] = "/tmp/patchbay_spawn_XXXXXX";
    if (rank == 0) {
        const int fd = mkstemp(name);
        char text[1024];
        const int length = snprintf(text, sizeof text,
            "# a comment\n\nhost = %s\n wdir = /usr # another\nsoft=1:8:2\nenv = SPAWN_VARIABLE=of the file\n", host);
        CHECK(fd >= 0 && write(fd, text, (size_t)length) == length && close(fd) == 0);
    }
    const char* pairs[][2] = {{"file", name}, {"wdir", "/"}, {NULL, NULL}};
    const struct Found found = spawn_with(self_path(), 4, 3, pairs);
    if (rank == 0) {
        CHECK(strcmp(found.directory, "/") == 0); /* the info has precedence */
        CHECK(strcmp(found.variable, "of the file") == 0);
        unlink(name);
    }
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm parent = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        return child(parent);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char here[PATH_MAX], host[MPI_MAX_PROCESSOR_NAME], directory[PATH_MAX];
    int length = 0;
    MPI_Get_processor_name(host, &length);
    CHECK(getcwd(here, sizeof here) != NULL);
    strcpy(directory, self_path());
    char* name = strrchr(directory, '/');
    *name++ = '\0';

    const char* none[][2] = {{NULL, NULL}};
    struct Found found = spawn_with(self_path(), 1, 1, none);
    if (rank == 0) {
        CHECK(strcmp(found.directory, here) == 0);
        CHECK(!found.returns_errors);
    }
    const char* many[][2] = {{"path", directory}, {"wdir", "/tmp"}, {"host", host}, {"soft", "7,0:2"},
        {"mpi_initial_errhandler", "mpi_errors_return"}, {"env", "OTHER=1\nSPAWN_VARIABLE=x=y"}, {NULL, NULL}};
    found = spawn_with(name, 4, 2, many);
    if (rank == 0) {
        CHECK(strcmp(found.directory, "/tmp") == 0);
        CHECK(strcmp(found.variable, "x=y") == 0);
        CHECK(found.returns_errors);
    }
    /* Nothing has a size that depends on maxprocs. */
    const char* one[][2] = {{"soft", "1"}, {NULL, NULL}};
    spawn_with(self_path(), INT_MAX, 1, one);
    check_file(host);
    return finish();
}
