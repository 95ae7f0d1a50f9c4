// SPDX-License-Identifier: BSD-3-Clause
// Runs a test program with threads as its ranks: launcher THREADS PROGRAM [ARGUMENT...]
//
// THREADS is the number of threads of each process, or a list, such as 3,1: the first process has three, the second
// one, the third three again. PROGRAM is a shared library with the sources of an MPI program, compiled with world.h.
// Each thread loads a copy of its own, so that each rank has the variables of the program for itself, as processes do.
#include <mpix.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

struct Rank {
    MPI_Comm world = MPI_COMM_NULL;
    MPI_Comm self = MPI_COMM_NULL;
    MPI_Errhandler of_world = MPI_ERRHANDLER_NULL; // while errors go to the handler of `self`
};
thread_local Rank here;

[[noreturn]] void end(const std::string& what) {
    std::fprintf(stderr, "thread_ranks: %s\n", what.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

void check(int code, const char* what) {
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(code, text, &length);
        end(std::string(what) + ": " + text);
    }
}

int threads_of(const char* list, int process) {
    std::vector<int> all;
    for (const char* at = list; *at != '\0';) {
        char* after = nullptr;
        all.push_back(int(std::strtol(at, &after, 10)));
        if (after == at || all.back() < 1) {
            end(std::string("not a list of numbers of threads: ") + list);
        }
        at = *after == ',' ? after + 1 : after;
    }
    return all.empty() ? 1 : all[std::size_t(process) % all.size()];
}

using Main = int (*)(int, char**);

// The main() of a copy of the library. The copy stays loaded: what the program has left behind may refer to it. Its
// file is gone when this returns.
Main load_copy(const char* path) {
    const char* folder = std::getenv("TEST_TMPDIR");
    std::string name = std::string(folder != nullptr ? folder : "/tmp") + "/thread_ranks_XXXXXX";
    const int from = open(path, O_RDONLY | O_CLOEXEC);
    const int copy = mkstemp(name.data());
    struct stat file {};
    off_t done = 0;
    bool copied = from >= 0 && copy >= 0 && fstat(from, &file) == 0;
    while (copied && done < file.st_size) {
        copied = sendfile(copy, from, &done, std::size_t(file.st_size - done)) > 0;
    }
    const std::string cause = std::strerror(errno);
    void* library = copied ? dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    close(from);
    close(copy);
    unlink(name.c_str());
    if (!copied) {
        end(std::string("cannot copy ") + path + ": " + cause);
    }
    void* main = library == nullptr ? nullptr : dlsym(library, "main");
    if (main == nullptr) {
        end(dlerror());
    }
    return reinterpret_cast<Main>(main);
}

// One rank, from start to finish.
int run(MPI_Comm comm, char** argv) {
    check(MPIX_Threadcomm_start(comm), "MPIX_Threadcomm_start");
    here.world = comm;
    int rank = 0;
    check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    check(MPI_Comm_split(comm, rank, 0, &here.self), "MPI_Comm_split");
    int argc = 0;
    while (argv[argc] != nullptr) {
        ++argc;
    }
    std::vector<char*> arguments(argv, argv + argc + 1); // the program may change them
    const int status = load_copy(argv[0])(argc, arguments.data());
    check(MPI_Comm_free(&here.self), "MPI_Comm_free");
    check(MPIX_Threadcomm_finish(comm), "MPIX_Threadcomm_finish");
    return status;
}

} // namespace

extern "C" [[gnu::visibility("default")]] MPI_Comm thread_ranks_world() {
    return here.world;
}

extern "C" [[gnu::visibility("default")]] MPI_Comm thread_ranks_self() {
    return here.self;
}

extern "C" [[gnu::visibility("default")]] int thread_ranks_init(int*, char***) {
    return MPI_SUCCESS;
}

extern "C" [[gnu::visibility("default")]] void thread_ranks_errors_as_self() {
    MPI_Errhandler of_self = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(here.world, &here.of_world);
    MPI_Comm_get_errhandler(here.self, &of_self);
    MPI_Comm_set_errhandler(here.world, of_self);
    MPI_Errhandler_free(&of_self);
}

extern "C" [[gnu::visibility("default")]] int thread_ranks_errors_as_before(int code) {
    MPI_Comm_set_errhandler(here.world, here.of_world);
    MPI_Errhandler_free(&here.of_world);
    return code;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc < 3) {
        end("two arguments, at least: THREADS PROGRAM");
    }
    // The buffers that a program attaches are those of its world (world.h): for its other communicators there is this
    // one.
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    // Errors of calls without a communicator: a program sets this for itself where it expects one.
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int process = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    const int count = threads_of(argv[1], process);
    MPI_Comm comm = MPI_COMM_NULL;
    check(MPIX_Threadcomm_init(MPI_COMM_WORLD, count, &comm), "MPIX_Threadcomm_init");
    std::atomic<int> worst = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&] {
            const int status = run(comm, argv + 2);
            if (status != 0) {
                worst = status;
            }
        });
    }
    for (std::thread& one : threads) {
        one.join();
    }
    check(MPIX_Threadcomm_free(&comm), "MPIX_Threadcomm_free");
    MPI_Finalize();
    return worst;
}
