/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawns that cannot work return an error of the right class in all processes, with a reason, and the program goes on.
 */
#include "tests/spawn/family.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int rank, size;

static void check_text(int code, const char* part) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    CHECK_TEXT(strstr(text, part) != NULL, text);
}

static int spawn_with(const char* command, int number, MPI_Info info, int root) {
    int codes[5] = {-1, -1, -1, -1, -1};
    char* argv[] = {"child", NULL};
    MPI_Comm inter = MPI_COMM_WORLD;
    const int code = MPI_Comm_spawn(command, argv, number, info, root, MPI_COMM_WORLD, &inter, codes);
    CHECK(code == MPI_SUCCESS || inter == MPI_COMM_NULL || inter == MPI_COMM_WORLD);
    if (class_of(code) == MPI_ERR_SPAWN) {
        for (int i = 0; i < number; ++i) {
            CHECK_EQUAL(codes[i], MPI_ERR_SPAWN);
        }
        CHECK_EQUAL(codes[number], -1);
    }
    if (code == MPI_SUCCESS) {
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    return code;
}

/* With one info key, which is significant at the root only. */
static int spawn_key(const char* key, const char* value) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    const int code = spawn_with(self_path(), 2, rank == size - 1 ? info : MPI_INFO_NULL, size - 1);
    MPI_Info_free(&info);
    if (code != MPI_SUCCESS && rank == size - 1) {
        check_text(code, value);
    }
    return code;
}

static void check_arguments(void) {
    CHECK_CLASS(spawn_with(self_path(), 1, MPI_INFO_NULL, size), MPI_ERR_ROOT);
    CHECK_CLASS(spawn_with(self_path(), 1, MPI_INFO_NULL, -1), MPI_ERR_ROOT);
    CHECK(class_of(spawn_with(rank == 0 ? NULL : "", 1, MPI_INFO_NULL, 0)) == MPI_ERR_ARG);
    CHECK_CLASS(spawn_with(self_path(), rank == 0 ? 0 : 1, MPI_INFO_NULL, 0), MPI_ERR_ARG);
    if (size > 1) { /* the processes pass different roots */
        CHECK(spawn_with(self_path(), 1, MPI_INFO_NULL, rank == 0 ? 0 : 1) != MPI_SUCCESS);
    }
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK_CLASS(MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter, MPI_ERRCODES_IGNORE),
        MPI_ERR_COMM);
    int codes[1];
    const int no = 0;
    CHECK_CLASS(
        MPI_Comm_spawn_multiple(no, NULL, MPI_ARGVS_NULL, NULL, NULL, 0, MPI_COMM_WORLD, &inter, codes), MPI_ERR_COUNT);
}

static void check_programs(void) {
    const int code = spawn_with("/no/such/program", 2, MPI_INFO_NULL, 0);
    CHECK_CLASS(code, MPI_ERR_SPAWN);
    check_text(code, rank == 0 ? "/no/such/program" : "it has failed in the root, rank 0, whose text has the cause");
    CHECK_CLASS(spawn_with("no_such_program_in_path", 3, MPI_INFO_NULL, size - 1), MPI_ERR_SPAWN);
    CHECK_CLASS(spawn_with("/", 1, MPI_INFO_NULL, 0), MPI_ERR_SPAWN);
    CHECK_CLASS(spawn_with("/etc/passwd", 1, MPI_INFO_NULL, 0), MPI_ERR_SPAWN);
    /* A program that ends without MPI: the call that waits for it must not. */
    CHECK_CLASS(spawn_with("/bin/true", 2, MPI_INFO_NULL, 0), MPI_ERR_SPAWN);
}

/* The first program of two runs already when the second one turns out to be none. */
static void check_half_started(void) {
    char script[] = "/tmp/patchbay_spawn_XXXXXX";
    if (rank == 0) {
        const char text[] = "#!/no/such/interpreter\n";
        const int fd = mkstemp(script);
        CHECK(fd >= 0 && write(fd, text, sizeof text - 1) > 0 && fchmod(fd, 0700) == 0 && close(fd) == 0);
    }
    char* argv[] = {"child", NULL};
    char* commands[] = {(char*)self_path(), script};
    char** argvs[] = {argv, argv};
    const int maxprocs[] = {2, 1};
    const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    int codes[] = {-1, -1, -1};
    MPI_Comm inter = MPI_COMM_WORLD;
    CHECK_CLASS(
        MPI_Comm_spawn_multiple(2, commands, argvs, maxprocs, infos, 0, MPI_COMM_WORLD, &inter, codes), MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL);
    for (int i = 0; i < 3; ++i) {
        CHECK_EQUAL(codes[i], MPI_ERR_SPAWN);
    }
    if (rank == 0) {
        unlink(script);
    }
}

static void check_keys(void) {
    CHECK_CLASS(spawn_key("host", "no.such.host.example"), MPI_ERR_SPAWN);
    CHECK_CLASS(spawn_key("arch", "pdp11"), MPI_ERR_SPAWN);
    CHECK_CLASS(spawn_key("wdir", "/no/such/directory"), MPI_ERR_SPAWN);
    CHECK_CLASS(spawn_key("file", "/no/such/file"), MPI_ERR_SPAWN);
    CHECK_CLASS(spawn_key("file", "/"), MPI_ERR_SPAWN);
    CHECK_CLASS(spawn_key("soft", "3:8"), MPI_ERR_SPAWN);
    CHECK_CLASS(spawn_key("soft", "1:2:0"), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(spawn_key("soft", "many"), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(spawn_key("np", "three"), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(spawn_key("np", "1,2"), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(spawn_key("np", "0"), MPI_ERR_SPAWN);
    CHECK_CLASS(spawn_key("np", "-1"), MPI_ERR_SPAWN);
    CHECK_CLASS(spawn_key("np", "3"), MPI_ERR_SPAWN);
    CHECK_CLASS(spawn_key("psets", "mpi://WORLD"), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(spawn_key("psets", "ocean,MPIX://x"), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(spawn_key("psets", "ocean,,land"), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(spawn_key("psets", "two words"), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(spawn_key("mpi_initial_errhandler", "ignore"), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(spawn_key("env", "no value"), MPI_ERR_INFO_VALUE);
    CHECK_OK(spawn_key("unknown_key", "is ignored"));
}

/* The numbers of the two keys contradict each other. */
static void check_contradiction(void) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "np", "3");
    MPI_Info_set(info, "soft", "2:4:2");
    const int code = spawn_with(self_path(), 4, info, 0);
    CHECK_CLASS(code, MPI_ERR_SPAWN);
    if (rank == 0) {
        check_text(code, "info key np: \"3\" is none of the numbers that info key soft allows, \"2:4:2\"");
    }
    MPI_Info_free(&info);
}

int main(int argc, char** argv) {
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm parent = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_disconnect(&parent));
        return finish();
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_arguments();
    check_programs();
    check_half_started();
    check_keys();
    check_contradiction();
    CHECK_OK(spawn_with(self_path(), 2, MPI_INFO_NULL, 0));
    return finish();
}
