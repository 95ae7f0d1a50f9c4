// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of every function that is implemented, one at a time: the class of the error, its text, whose error
// handler is called, and that the library goes on. functions.py makes the tables.
#include "tests/bad_input/pool.h"
#include "tests/mpi_check/check.h"

#include <cinttypes>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace {

// What the error handlers have been called with since the last call.
struct Handled {
    int calls = 0;
    Word object;
};
Handled handled;

template <class H>
void handle(H* object, int*, ...) {
    ++handled.calls;
    handled.object = Word(*object);
}

const char* describe(Bad what) {
    static const char* const texts[] = {"null handle", "zero", "freed handle", "handle of another kind", "random bits",
        "uncommitted type", "null pointer", "MPI_IN_PLACE", "-1", "-77", "0", "a large number", "no such text"};
    return texts[int(what)];
}

constexpr int large_number = 1000000;

// The function that is being called, for the message of a run that hangs or crashes.
const Function* current_function = nullptr;
const Case* current_case = nullptr;
std::intptr_t current_value = 0;
int failed = 0;

void fail(const std::string& why) {
    ++failed;
    std::printf("%s, argument %s: %s (%#" PRIxPTR "): %s\n", current_function->name, current_case->name,
        describe(current_case->what), std::uintptr_t(current_value), why.c_str());
}

void report_signal(int signal) {
    char text[200];
    const int length = std::snprintf(text, sizeof text, "signal %d in %s, argument %s: %s (%#" PRIxPTR ")\n", signal,
        current_function != nullptr ? current_function->name : "?", current_case != nullptr ? current_case->name : "?",
        current_case != nullptr ? describe(current_case->what) : "?", std::uintptr_t(current_value));
    [[maybe_unused]] const auto written = write(STDOUT_FILENO, text, std::size_t(length));
    _exit(EXIT_FAILURE);
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// The text names the function, the argument and its value.
void check_text(int code, const Function& function, const Case& one, Word value) {
    char buffer[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, buffer, &length);
    const std::string text = buffer;
    std::string wanted;
    char number[40];
    switch (one.what) {
    case Bad::minus_one:
    case Bad::minus_many:
    case Bad::zero:
    case Bad::large:
        wanted = std::to_string(one.what == Bad::minus_one ? -1
                : one.what == Bad::minus_many              ? -77
                : one.what == Bad::zero                    ? 0
                                                           : large_number);
        break;
    case Bad::null_pointer:
        wanted = has(text, "NULL") ? "NULL" : "null pointer";
        break;
    case Bad::in_place:
        wanted = "MPI_IN_PLACE";
        break;
    case Bad::uncommitted:
        wanted = "committed";
        break;
    case Bad::no_text:
        wanted = "no such";
        break;
    default:
        std::snprintf(number, sizeof number, "%#" PRIxPTR, std::uintptr_t(value.bits));
        // The null handles of some types are described by their name.
        wanted = one.what == Bad::null_handle && has(text, "_NULL") ? "_NULL" : value.bits == 0 ? "0" : number;
        break;
    }
    if (!has(text, std::string(function.name) + ":")) {
        fail("the text does not name the function: " + text);
    } else if (!has(text, one.name)) {
        fail("the text does not name the argument: " + text);
    } else if (!has(text, wanted)) {
        fail("the text does not have the value '" + wanted + "': " + text);
    }
}

void check_handler(const Case& one, const Word* arguments) {
    if (one.target == Case::unchecked) {
        return;
    }
    if (one.target == Case::any) {
        if (handled.calls != 1) {
            fail("error handlers were called " + std::to_string(handled.calls) + " times");
        }
        return;
    }
    const int calls = one.target == Case::none ? 0 : 1;
    const Word wanted = one.target == Case::self ? Word(MPI_COMM_SELF) : calls == 1 ? arguments[one.target] : Word();
    if (handled.calls != calls) {
        fail("error handlers were called " + std::to_string(handled.calls) + " times, not " + std::to_string(calls));
    } else if (calls == 1 && handled.object.bits != wanted.bits) {
        fail("the error handler of another object was called");
    }
}

void call(const Function& function, const Case& one, Pool& pool, Word value) {
    Word arguments[20];
    function.set(pool, arguments);
    arguments[one.argument] = one.place == Case::Place::variable ? pool.variable(value)
        : one.place == Case::Place::array                        ? pool.array(value)
                                                                 : value;
    current_case = &one;
    current_value = value.bits;
    handled = {};
    const int code = function.call(arguments);
    const bool is_tool = one.target == Case::none; // its codes have no text of their own
    if (class_of(code) != one.error_class) {
        fail("class " + std::to_string(class_of(code)) + ", not " + std::to_string(one.error_class));
    } else {
        if (!is_tool) {
            check_text(code, function, one, value);
        }
        check_handler(one, arguments);
    }
}

std::vector<Word> values(const Case& one, const Pool& pool) {
    switch (one.what) {
    case Bad::minus_one:
        return {-1};
    case Bad::minus_many:
        return {-77};
    case Bad::zero:
        return {0};
    case Bad::large:
        return {large_number};
    case Bad::null_pointer:
        return {nullptr};
    case Bad::in_place:
        return {MPI_IN_PLACE};
    case Bad::uncommitted:
        return {pool.uncommitted};
    case Bad::no_text:
        return {"no such"};
    default:
        return pool.bad_handles(one.handle, one.what);
    }
}

// The library goes on: a message to itself, and one around the job at the end.
void exchange(MPI_Comm comm, int dest, int source) {
    int sent = 4711, received = 0;
    CHECK_OK(MPI_Sendrecv(&sent, 1, MPI_INT, dest, 7, &received, 1, MPI_INT, source, 7, comm, MPI_STATUS_IGNORE));
    CHECK_EQUAL(received, sent);
}

bool wanted(const char* name, int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], name) == 0) {
            return true;
        }
    }
    return argc < 2;
}

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGSEGV, report_signal); // that of the library passes on to it what is not its own
    MPI_Init(&argc, &argv);
    MPI_Errhandler of_comms, of_sessions, of_windows;
    MPI_Comm_create_errhandler(handle<MPI_Comm>, &of_comms);
    MPI_Session_create_errhandler(handle<MPI_Session>, &of_sessions);
    MPI_Win_create_errhandler(handle<MPI_Win>, &of_windows);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, of_comms);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_comms);
    int calls = 0;
    {
        Pool pool;
        for (MPI_Comm comm : {pool.comm, pool.inter, pool.cart, pool.graph, pool.dist}) {
            if (comm != MPI_COMM_NULL) {
                MPI_Comm_set_errhandler(comm, of_comms);
            }
        }
        MPI_Session_set_errhandler(pool.session, of_sessions);
        MPI_Win_set_errhandler(pool.win, of_windows);
        MPI_Win_set_errhandler(pool.dynamic, of_windows);
        std::signal(SIGALRM, report_signal);
        std::signal(SIGABRT, report_signal);
        const Case* one = all_cases;
        for (const Function* function = all_functions; function->name != nullptr; ++function) {
            current_function = function;
            alarm(20);
            for (int i = 0; i < function->cases; ++i, ++one) {
                const bool possible = !function->needs_intercomm || pool.inter != MPI_COMM_NULL;
                if (!possible || !wanted(function->name, argc, argv)) {
                    continue;
                }
                for (const Word& value : values(*one, pool)) {
                    call(*function, *one, pool, value);
                    ++calls;
                }
            }
            exchange(MPI_COMM_SELF, 0, 0);
        }
        alarm(0);
        exchange(pool.comm, (pool.rank + 1) % pool.ranks, (pool.rank + pool.ranks - 1) % pool.ranks);
    }
    MPI_Errhandler_free(&of_comms);
    MPI_Errhandler_free(&of_sessions);
    MPI_Errhandler_free(&of_windows);
    std::printf("%d calls, %d failed\n", calls, failed);
    CHECK(failed == 0 && calls > 0);
    return finish();
}
