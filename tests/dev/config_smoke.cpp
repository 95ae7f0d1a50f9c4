// SPDX-License-Identifier: BSD-3-Clause
// Is this the build that the argument names? `./dev configs` runs it with --config=clang, debug and ubsan; without an
// argument it is the ordinary build. It holds core, so that core compiles in each of them.
#include "core/base/strings.h"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr bool by_clang =
#ifdef __clang__
    true;
#else
    false;
#endif

constexpr bool asserting =
#ifdef NDEBUG
    false;
#else
    true;
#endif

constexpr bool optimised =
#ifdef __OPTIMIZE__
    true;
#else
    false;
#endif

// A signed overflow ends the process when the undefined-behaviour sanitizer is in.
bool overflow_is_fatal() {
    const pid_t child = fork();
    if (child == 0) {
        volatile int large = INT_MAX;
        std::fclose(stderr);
        large = large + 1;
        _exit(0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

bool is(const char* what, bool found, bool wanted) {
    if (found != wanted) {
        std::fprintf(stderr, "FAILED: %s: %s\n", what, found ? "yes" : "no");
    }
    return found == wanted;
}

} // namespace

int main(int argc, char** argv) {
    const std::string config = argc > 1 ? argv[1] : "";
    bool good = is("compiled by clang", by_clang, config == "clang");
    good = is("assertions", asserting, config == "debug" || config == "ubsan") && good;
    good = is("optimised", optimised, config != "debug") && good;
    good = is("overflow is fatal", overflow_is_fatal(), config == "ubsan") && good;
    good = is("core is there", patchbay::nearest_name("basik", {"self", "basic"}) == "basic", true) && good;
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
