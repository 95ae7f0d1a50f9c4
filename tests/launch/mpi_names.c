/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program for names_test.py: carries out its arguments one after the other.
 *
 *   publish NAME VALUE, lookup NAME, unpublish NAME   print the value, "done" or the error class
 *   scope VALUE                                        the info key of the calls that follow
 *   touch FILE, await FILE                             make a file; wait until it exists */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void print_result(int code, const char* value) {
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    const char* text = class == MPI_SUCCESS ? value
        : class == MPI_ERR_NAME             ? "MPI_ERR_NAME"
        : class == MPI_ERR_SERVICE          ? "MPI_ERR_SERVICE"
        : class == MPI_ERR_INFO_VALUE       ? "MPI_ERR_INFO_VALUE"
                                            : "another error";
    puts(text);
    fflush(stdout);
}

static void await(const char* file) {
    const struct timespec pause = {0, 5000000};
    while (access(file, F_OK) != 0) {
        nanosleep(&pause, NULL);
    }
}

int main(int argc, char** argv) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Info info = MPI_INFO_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (char** word = argv + 1; *word != NULL; word += 2) {
        if (strcmp(*word, "publish") == 0) {
            print_result(MPI_Publish_name(word[1], info, word[2]), "done");
            ++word;
        } else if (strcmp(*word, "lookup") == 0) {
            const int code = MPI_Lookup_name(word[1], info, port);
            print_result(code, port);
        } else if (strcmp(*word, "unpublish") == 0) {
            print_result(MPI_Unpublish_name(word[1], info, ""), "done");
        } else if (strcmp(*word, "scope") == 0) {
            if (info == MPI_INFO_NULL) {
                MPI_Info_create(&info);
            }
            MPI_Info_set(info, "scope", word[1]);
        } else if (strcmp(*word, "touch") == 0) {
            fclose(fopen(word[1], "w"));
        } else if (strcmp(*word, "await") == 0) {
            await(word[1]);
        } else {
            return 2;
        }
    }
    if (info != MPI_INFO_NULL) {
        MPI_Info_free(&info);
    }
    MPI_Finalize();
    return 0;
}
