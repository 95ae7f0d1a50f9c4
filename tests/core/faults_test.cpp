// SPDX-License-Identifier: BSD-3-Clause
// One signal handler for all parts of the library, and the handlers of the program before and after it. Each case runs
// in a process of its own, because most of them end it.
#include "core/base/faults.h"

#include <gtest/gtest.h>

#include <array>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <functional>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay {
namespace {

constexpr int fine = 42;

// What waitpid() says about a process that runs this.
int status_of(const std::function<void()>& run) {
    const pid_t child = fork();
    if (child == 0) {
        constexpr rlimit no_core = {};
        setrlimit(RLIMIT_CORE, &no_core);
        alarm(20);
        // What the sanitizers have installed.
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        run();
        _exit(EXIT_FAILURE);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

// How a process ends: the signal, or 1000 + the exit status.
int end_of(const std::function<void()>& run) {
    const int status = status_of(run);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 1000 + WEXITSTATUS(status);
}

std::size_t page_size() {
    return std::size_t(sysconf(_SC_PAGESIZE));
}

char* forbidden_page() {
    return static_cast<char*>(mmap(nullptr, page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

char* page = nullptr;       // one that may not be read
std::size_t page_bytes = 0; // of it

// Not instrumented: the sanitizers would look at the address themselves.
[[gnu::noinline]] __attribute__((no_sanitize("address", "undefined", "thread"))) void touch(char* address) {
    *static_cast<volatile char*>(address) = 1;
}

bool none(siginfo_t*, void*) noexcept {
    return false;
}

// Makes the page accessible.
bool mends(siginfo_t* info, void*) noexcept {
    return info->si_addr == page && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0;
}

void begin(FaultUser user) {
    page = forbidden_page();
    page_bytes = page_size();
    if (!handle_faults(user)) {
        _exit(EXIT_FAILURE);
    }
}

void install(int signal, void (*handler)(int, siginfo_t*, void*), int flags, struct sigaction* before = nullptr) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(signal, &action, before);
}

bool is_blocked(int signal) {
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, nullptr, &blocked);
    return sigismember(&blocked, signal) == 1;
}

TEST(Faults, UserMendsAndTheProgramGoesOn) {
    EXPECT_EQ(end_of([] {
        begin(none);
        if (!handle_faults(mends)) {
            _exit(EXIT_FAILURE);
        }
        errno = 4711;
        touch(page);
        _exit(errno == 4711 && *page == 1 ? fine : EXIT_FAILURE);
    }),
        1000 + fine);
}

TEST(Faults, WithoutAHandlerOfTheProgramTheDefaultEffect) {
    EXPECT_EQ(end_of([] {
        begin(none);
        touch(page);
    }),
        SIGSEGV);
    EXPECT_EQ(end_of([] {
        begin(mends);
        touch(page + 8);
    }),
        SIGSEGV);
    EXPECT_EQ(end_of([] {
        begin(none);
        raise(SIGSEGV);
    }),
        SIGSEGV);
    EXPECT_EQ(end_of([] {
        begin(none);
        kill(getpid(), SIGBUS);
        pause();
    }),
        SIGBUS);
}

TEST(Faults, DefaultThatIsInstalledWithFlags) {
    EXPECT_EQ(end_of([] {
        install(SIGSEGV, nullptr, 0);
        begin(none);
        touch(page);
    }),
        SIGSEGV);
}

TEST(Faults, AnIgnoredSignalIsIgnoredUnlessItIsAFault) {
    EXPECT_EQ(end_of([] {
        signal(SIGSEGV, SIG_IGN);
        begin(none);
        raise(SIGSEGV);
        raise(SIGSEGV);
        _exit(fine);
    }),
        1000 + fine);
    EXPECT_EQ(end_of([] {
        signal(SIGSEGV, SIG_IGN);
        begin(none);
        touch(page);
    }),
        SIGSEGV);
}

TEST(Faults, HandlerOfTheProgramGetsWhatTheKernelGives) {
    EXPECT_EQ(end_of([] {
        install(
            SIGSEGV,
            [](int signal, siginfo_t* info, void* context) {
                const bool right = signal == SIGSEGV && info->si_addr == page && info->si_code == SEGV_ACCERR &&
                    context != nullptr && is_blocked(SIGUSR1) && is_blocked(SIGSEGV);
                _exit(right ? fine : EXIT_FAILURE);
            },
            0);
        begin(none);
        touch(page);
    }),
        1000 + fine);
    EXPECT_EQ(end_of([] {
        signal(SIGSEGV, [](int) { _exit(fine); });
        begin(none);
        touch(page);
    }),
        1000 + fine);
    EXPECT_EQ(end_of([] {
        install(
            SIGSEGV, [](int, siginfo_t* info, void*) { _exit(info->si_pid == getpid() ? fine : 1); }, 0);
        begin(mends);
        kill(getpid(), SIGSEGV);
        pause();
    }),
        1000 + fine);
}

TEST(Faults, BusErrorsAreHandledAsWell) {
    EXPECT_EQ(end_of([] {
        install(
            SIGBUS, [](int signal, siginfo_t*, void*) { _exit(signal == SIGBUS ? fine : EXIT_FAILURE); }, 0);
        begin(none);
        std::FILE* empty = tmpfile();
        touch(static_cast<char*>(mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fileno(empty), 0)));
    }),
        1000 + fine);
}

TEST(Faults, HandlerThatIsToRunOnceRunsOnce) {
    EXPECT_EQ(end_of([] {
        static int calls = 0;
        install(
            SIGSEGV,
            [](int, siginfo_t*, void*) {
                if (++calls == 2) {
                    _exit(EXIT_FAILURE);
                }
            },
            int(SA_RESETHAND));
        begin(none);
        touch(page); // called once, and the instruction faults again
    }),
        SIGSEGV);
}

// The handler leaves by longjmp(), which does not unblock the signal: SA_NODEFER is kept.
TEST(Faults, HandlerThatJumps) {
    EXPECT_EQ(end_of([] {
        static jmp_buf place;
        static int jumps = 0;
        install(
            SIGSEGV, [](int, siginfo_t*, void*) { longjmp(place, 1); }, SA_NODEFER);
        begin(none);
        if (_setjmp(place) != 0 && ++jumps == 3) {
            _exit(fine);
        }
        touch(page);
    }),
        1000 + fine);
    EXPECT_EQ(end_of([] {
        static sigjmp_buf place;
        static int jumps = 0;
        install(
            SIGSEGV, [](int, siginfo_t*, void*) { siglongjmp(place, 1); }, 0);
        begin(none);
        if (sigsetjmp(place, 1) != 0 && ++jumps == 3) {
            _exit(fine);
        }
        touch(page);
    }),
        1000 + fine);
}

alignas(16) std::array<char, 65536> other_stack;

__attribute__((no_sanitize("address"))) bool on_other_stack() {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const auto begin = reinterpret_cast<std::uintptr_t>(other_stack.data());
    return here >= begin && here < begin + other_stack.size();
}

TEST(Faults, TheStackIsThatOfTheHandlerOfTheProgram) {
    for (const bool wanted : {true, false}) {
        static bool wants = false;
        wants = wanted;
        EXPECT_EQ(end_of([] {
            const stack_t stack = {other_stack.data(), 0, other_stack.size()};
            sigaltstack(&stack, nullptr);
            install(
                SIGSEGV, [](int, siginfo_t*, void*) { _exit(on_other_stack() == wants ? fine : EXIT_FAILURE); },
                wants ? SA_ONSTACK : 0);
            begin(none);
            touch(page);
        }),
            1000 + fine);
    }
}

TEST(Faults, TheProgramMayReplaceTheHandler) {
    EXPECT_EQ(end_of([] {
        begin(mends);
        install(
            SIGSEGV, [](int, siginfo_t*, void*) { _exit(fine); }, 0);
        if (faults_reach_users()) {
            _exit(EXIT_FAILURE);
        }
        touch(page);
    }),
        1000 + fine);
    // It stays after the last user, and a later user does not replace it.
    EXPECT_EQ(end_of([] {
        begin(none);
        install(
            SIGSEGV, [](int, siginfo_t*, void*) { _exit(fine); }, 0);
        stop_handling_faults(none);
        begin(mends);
        touch(page);
    }),
        1000 + fine);
}

// A handler that calls the one from before reaches the users, also when the library has been used twice: neither
// handler calls the other for ever.
TEST(Faults, HandlersOfTheProgramMayCallTheOneFromBefore) {
    static struct sigaction before;
    static int calls = 0;
    const auto calls_before = [](int signal, siginfo_t* info, void* context) {
        ++calls;
        before.sa_sigaction(signal, info, context);
    };
    EXPECT_EQ(end_of([&] {
        begin(mends);
        install(SIGSEGV, calls_before, 0, &before);
        touch(page);
        stop_handling_faults(mends);
        begin(mends);
        touch(page);
        _exit(calls == 2 ? fine : EXIT_FAILURE);
    }),
        1000 + fine);
    EXPECT_EQ(end_of([&] {
        begin(none);
        install(SIGSEGV, calls_before, 0, &before);
        stop_handling_faults(none);
        begin(none);
        touch(page);
    }),
        SIGSEGV);
}

TEST(Faults, AfterTheLastUserEverythingIsAsBefore) {
    EXPECT_EQ(end_of([] {
        install(
            SIGSEGV, [](int, siginfo_t*, void*) { _exit(EXIT_FAILURE); }, SA_NODEFER);
        struct sigaction first = {};
        struct sigaction during = {};
        struct sigaction last = {};
        sigaction(SIGSEGV, nullptr, &first);
        begin(none);
        begin(mends);
        stop_handling_faults(none);
        sigaction(SIGSEGV, nullptr, &during);
        touch(page);
        stop_handling_faults(mends);
        sigaction(SIGSEGV, nullptr, &last);
        const bool right = first.sa_sigaction != during.sa_sigaction && first.sa_sigaction == last.sa_sigaction &&
            first.sa_flags == last.sa_flags && sigismember(&last.sa_mask, SIGUSR1) == 1;
        _exit(right ? fine : EXIT_FAILURE);
    }),
        1000 + fine);
    // Again and again, with another handler each time.
    EXPECT_EQ(end_of([] {
        for (int i = 0; i < 3; ++i) {
            signal(SIGSEGV, i % 2 == 0 ? SIG_DFL : SIG_IGN);
            begin(mends);
            touch(page);
            stop_handling_faults(mends);
        }
        touch(forbidden_page());
    }),
        SIGSEGV);
}

TEST(Faults, NumberOfUsersIsLimited) {
    EXPECT_EQ(end_of([] {
        begin(none);
        int users = 1;
        while (handle_faults(mends)) {
            ++users;
        }
        _exit(users == 4 ? fine : EXIT_FAILURE);
    }),
        1000 + fine);
}

} // namespace
} // namespace patchbay
