/* SPDX-License-Identifier: BSD-3-Clause */
/* A process without mpirun has no launcher that could start others: an error with the reason, and no wait. */
#include "tests/spawn/family.h"

#include <string.h>

int main(int argc, char** argv) {
    char port[MPI_MAX_PORT_NAME] = "", text[MPI_MAX_ERROR_STRING];
    int codes[2] = {0, 0}, length = 0;
    MPI_Comm inter = MPI_COMM_WORLD;
    CHECK_OK(MPI_Init(&argc, &argv));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_get_parent(&inter));
    CHECK(inter == MPI_COMM_NULL);
    const int code = MPI_Comm_spawn(self_path(), MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    CHECK_CLASS(code, MPI_ERR_SPAWN);
    CHECK(codes[0] == MPI_ERR_SPAWN && codes[1] == MPI_ERR_SPAWN);
    MPI_Error_string(code, text, &length);
    CHECK_TEXT(strstr(text, "mpirun") != NULL, text);
    CHECK_CLASS(MPI_Open_port(MPI_INFO_NULL, port), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_Publish_name("name", MPI_INFO_NULL, "port"), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_Lookup_name("name", MPI_INFO_NULL, port), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(
        MPI_Comm_connect("patchbay-port:0", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_UNSUPPORTED_OPERATION);
    return finish();
}
