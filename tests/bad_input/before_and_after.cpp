// SPDX-License-Identifier: BSD-3-Clause
// Every function that is implemented while MPI is not initialized, before MPI_Init and after MPI_Finalize: what needs a
// communicator or a session returns an error whose text says why, and nothing else crashes or hangs. The initial error
// handler is MPI_ERRORS_RETURN.
#include "tests/bad_input/pool.h"
#include "tests/mpi_check/check.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

// Of the leak sanitizer.
extern "C" [[gnu::weak]] void __lsan_disable();

namespace {

const char* current = "?";

void report_signal(int signal) {
    char text[200];
    const int length = std::snprintf(text, sizeof text, "signal %d in %s\n", signal, current);
    [[maybe_unused]] const auto written = write(STDOUT_FILENO, text, std::size_t(length));
    _exit(EXIT_FAILURE);
}

void fail(const char* when, const Function& function, const std::string& why) {
    check_failed(__FILE__, __LINE__, (std::string(function.name) + " " + when + ": " + why).c_str());
}

bool is_tool(const Function& function) {
    return std::strncmp(function.name, "MPI_T_", 6) == 0;
}

// The class of the error that a function has because MPI is not initialized; MPI_SUCCESS: it may work.
int expected_class(const Function& function, const Case* cases) {
    for (int i = 0; i < function.cases; ++i) {
        if (is_tool(function)) {
            return MPI_T_ERR_NOT_INITIALIZED;
        }
        const bool is_handle = cases[i].what == Bad::freed_handle;
        if (is_handle && (cases[i].handle == Handle::comm || cases[i].handle == Handle::session)) {
            return cases[i].handle == Handle::comm ? MPI_ERR_COMM : MPI_ERR_SESSION;
        }
    }
    return MPI_SUCCESS;
}

void check(const char* when, Pool& pool, const Function& function, const Case* cases) {
    Word arguments[20];
    function.set(pool, arguments);
    current = function.name;
    const int code = function.call(arguments);
    char buffer[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, buffer, &length);
    const std::string text = buffer;
    const int wanted = expected_class(function, cases);
    if (wanted != MPI_SUCCESS && class_of(code) != wanted) {
        fail(when, function, "class " + std::to_string(class_of(code)) + ", not " + std::to_string(wanted));
    }
    if (code != MPI_SUCCESS && !is_tool(function) && text.find(std::string(function.name) + ":") == std::string::npos) {
        fail(when, function, "the text does not name the function: " + text);
    }
    if (wanted == MPI_ERR_COMM && text.find("MPI is not initialized") == std::string::npos) {
        fail(when, function, "the text does not say that MPI is not initialized: " + text);
    }
}

void call_all(const char* when) {
    Pool pool(Pool::Without::mpi);
    const Case* cases = all_cases;
    for (const Function* function = all_functions; function->name != nullptr; ++function) {
        alarm(20);
        if (std::strcmp(function->name, "MPI_Session_init") != 0) { // it initializes the library: tests/sessions
            check(when, pool, *function, cases);
        }
        cases += function->cases;
    }
    alarm(0);
}

} // namespace

int main(int argc, char** argv) {
    // Objects that a call has constructed are not freed: whether it does is not what this test is about.
    if (__lsan_disable != nullptr) {
        __lsan_disable();
    }
    std::signal(SIGALRM, report_signal);
    std::signal(SIGSEGV, report_signal);
    call_all("before MPI_Init");
    CHECK_OK(MPI_Init(&argc, &argv));
    int rank, size, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQUAL(sum, size * (size - 1) / 2);
    CHECK_OK(MPI_Finalize());
    call_all("after MPI_Finalize");
    return failures();
}
