// SPDX-License-Identifier: BSD-3-Clause
// Every function that is not implemented returns the code for that, with an error text that names the function. The
// tool interface has no error handler and its own code.
#include "tests/abi/unimplemented_calls.h"

#include <cstdio>
#include <cstring>

namespace {

int handler_calls = 0;
int handler_code = MPI_SUCCESS;

void count_calls(MPI_Comm*, int* code, ...) {
    ++handler_calls;
    handler_code = *code;
}

bool belongs_to_files(const char* name) {
    return std::strncmp(name, "MPI_File_", 9) == 0;
}

bool returns_unsupported(const UnimplementedCall& function) {
    const int code = function.call();
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (code != MPI_ERR_UNSUPPORTED_OPERATION || std::strstr(text, function.name) == nullptr) {
        std::printf("%s: code %d, text \"%s\"\n", function.name, code, text);
        return false;
    }
    return true;
}

bool calls_the_error_handler(const UnimplementedCall& function) {
    handler_calls = 0;
    const int code = function.call();
    // Files have an error handler of their own, which returns by default.
    const int wanted = belongs_to_files(function.name) ? 0 : 1;
    if (handler_calls != wanted || (wanted == 1 && handler_code != code)) {
        std::printf("%s: the error handler was called %d times\n", function.name, handler_calls);
        return false;
    }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int failures = 0;
    for (const UnimplementedCall* function = unimplemented_calls; function->name != nullptr; ++function) {
        failures += returns_unsupported(*function) ? 0 : 1;
    }
    MPI_Errhandler counting;
    MPI_Comm_create_errhandler(count_calls, &counting);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counting);
    for (const UnimplementedCall* function = unimplemented_calls; function->name != nullptr; ++function) {
        failures += calls_the_error_handler(*function) ? 0 : 1;
    }
    MPI_Errhandler_free(&counting);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
