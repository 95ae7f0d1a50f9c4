// SPDX-License-Identifier: BSD-3-Clause
// A program with signal handlers of its own: they get its own faults, and never those that the library causes on
// purpose to find out what a handle points to, or which instruction changes a buffer in use (mpi_check).
//
// signals [off]; off: the library installs no handler (mpi_check_addresses false, mpi_check none).
#include "tests/mpi_check/check.h"

#include <array>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

char* forbidden = nullptr;     // a page that may not be read
constexpr int own_place = 100; // in it, that only the program uses
thread_local sigjmp_buf place;
thread_local const void* fault = nullptr; // what the handler of the program was told
thread_local int calls = 0;
struct sigaction of_library;

void handle(int, siginfo_t* info, void*) {
    fault = info->si_addr;
    ++calls;
    siglongjmp(place, 1);
}

// Calls the handler that it has replaced where it knows nothing of the address.
void handle_or_pass_on(int signal, siginfo_t* info, void* context) {
    if (info->si_addr == forbidden + own_place) {
        handle(signal, info, context);
    }
    of_library.sa_sigaction(signal, info, context);
}

void install(void (*handler)(int, siginfo_t*, void*), struct sigaction* before) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    CHECK_EQUAL(sigaction(SIGSEGV, &action, before), 0);
}

[[gnu::noinline]] __attribute__((no_sanitize("address", "undefined", "thread"))) void touch(char* address) {
    *static_cast<volatile char*>(address) = 1;
}

// The handler of the program gets a fault of the program.
void cause_fault() {
    const int before = calls;
    if (sigsetjmp(place, 1) == 0) {
        touch(forbidden + own_place);
    }
    CHECK_EQUAL(calls, before + 1);
    CHECK(fault == forbidden + own_place);
}

// Faults of the library are none of the program's.
void use_wrong_handles() {
    const int before = calls;
    int value = 0;
    for (const std::intptr_t bits : {std::intptr_t(0x1234567890), std::intptr_t(0x4141414141414141), std::intptr_t(-8),
             reinterpret_cast<std::intptr_t>(forbidden)}) {
        CHECK_CLASS(MPI_Comm_rank(reinterpret_cast<MPI_Comm>(bits), &value), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Type_size(reinterpret_cast<MPI_Datatype>(bits), &value), MPI_ERR_TYPE);
        auto request = reinterpret_cast<MPI_Request>(bits);
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    }
    CHECK_EQUAL(calls, before);
}

// With mpi_check the pages of the buffer are protected, and a write to them is noted.
void change_buffer_in_use() {
    const int before = calls;
    std::vector<int> sent(100000, 1), received(100000);
    MPI_Request requests[2];
    CHECK_OK(MPI_Isend(sent.data(), int(sent.size()), MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]));
    use_wrong_handles();
    sent[50000] = 2;
    use_wrong_handles();
    cause_fault();
    sent[50001] = 3;
    CHECK_OK(MPI_Irecv(received.data(), int(received.size()), MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(calls, before + 1);
}

void use_threads() {
    std::thread other([] {
        for (int i = 0; i < 200; ++i) {
            cause_fault();
        }
    });
    for (int i = 0; i < 200; ++i) {
        use_wrong_handles();
    }
    other.join();
}

bool same(const struct sigaction& a, const struct sigaction& b) {
    return a.sa_sigaction == b.sa_sigaction && a.sa_flags == b.sa_flags;
}

} // namespace

int main(int argc, char** argv) {
    const bool off = argc > 1 && std::strcmp(argv[1], "off") == 0;
    struct sigaction own = {}, during = {}, after = {};
    forbidden = static_cast<char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    install(handle, nullptr);
    sigaction(SIGSEGV, nullptr, &own);
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    sigaction(SIGSEGV, nullptr, &during);
    CHECK_EQUAL(same(own, during), off);
    cause_fault();
    if (!off) {
        use_wrong_handles();
        change_buffer_in_use();
        use_threads();
        install(handle_or_pass_on, &of_library);
        cause_fault();
        use_wrong_handles();
        sigaction(SIGSEGV, &of_library, nullptr);
    }
    CHECK_OK(MPI_Finalize());
    sigaction(SIGSEGV, nullptr, &after);
    CHECK(same(own, after));
    cause_fault();
    return failures();
}
