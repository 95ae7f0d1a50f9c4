// SPDX-License-Identifier: BSD-3-Clause
// A process that no PMIx launcher started. Each case runs in a child of its own: the library reads the
// launcher's environment variables once in a process.
#include "core/memory/node_segment.h"
#include "core/runtime/runtime.h"
#include "tests/core_runtime/processes.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

namespace patchbay {
namespace {
using test::run_processes;

std::size_t entries(const char* directory) {
    auto listing = std::filesystem::directory_iterator(directory);
    return std::size_t(std::distance(begin(listing), end(listing)));
}

void forget_launchers() {
    for (const char* name : {"PMIX_NAMESPACE", "PMIX_RANK", "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
             "MPIRUN_NPROCS", "PATCHBAY_CHILD_OF_RANK", "PATCHBAY_NODE_SEGMENT"}) {
        unsetenv(name);
    }
}

bool in_a_child(const std::function<bool()>& body) {
    return run_processes(1, 60, [&](int) {
        forget_launchers();
        return body();
    });
}

TEST(Runtime, AloneItIsAJobOfOneWithoutThreadOrDescriptor) {
    EXPECT_TRUE(in_a_child([] {
        std::size_t descriptors = entries("/proc/self/fd");
        for (std::uint32_t lifetime = 0; lifetime < 100; ++lifetime) {
            auto runtime = Runtime::create({});
            if (!runtime || !(*runtime)->is_singleton() || (*runtime)->rank() != 0 || (*runtime)->size() != 1 ||
                (*runtime)->local_size() != 1 || (*runtime)->oversubscribed() || (*runtime)->lifetime() != lifetime ||
                (*runtime)->own_launcher() || entries("/proc/self/task") != 1) {
                return false;
            }
            auto segment = NodeSegment::attach(**runtime, {});
            if (!segment || entries("/proc/self/fd") != descriptors) {
                return false;
            }
        }
        return true;
    }));
}

TEST(Runtime, AloneItAnswersItself) {
    EXPECT_TRUE(in_a_child([] {
        auto runtime = Runtime::create({});
        std::vector<std::byte> value{std::byte(1), std::byte(2)};
        std::vector<std::byte> other{std::byte(3)};
        return runtime && (*runtime)->try_get((*runtime)->self(), "key").error().code == Errc::not_found &&
            (*runtime)->put("key", value) && (*runtime)->commit() && (*runtime)->fence({}, true) &&
            *(*runtime)->get((*runtime)->self(), "key") == value && (*runtime)->put("key", value) &&
            (*runtime)->put("key", other).error().code == Errc::invalid &&
            (*runtime)->put("pmix.key", value).error().code == Errc::invalid &&
            (*runtime)->hostname_of((*runtime)->self()) && *(*runtime)->universe_size() == 1 &&
            *(*runtime)->app_number() == 0 &&
            (*runtime)->on_peer_failure([](const ProcessName&) {}).error().code == Errc::unsupported;
    }));
}

struct LauncherCase {
    const char* size_variable;
    const char* rank_variable;
    const char* remedy;
};

TEST(Runtime, ALauncherWithoutPmixIsAnErrorThatSaysWhatToDo) {
    for (const LauncherCase& launcher : {LauncherCase{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun --mpi=pmix"},
             LauncherCase{"PMI_SIZE", "PMI_RANK", "mpirun"},
             LauncherCase{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "mpirun"}}) {
        EXPECT_TRUE(in_a_child([&] {
            setenv(launcher.size_variable, "4", 1);
            setenv(launcher.rank_variable, "2", 1);
            auto refused = Runtime::create({});
            if (refused || refused.error().code != Errc::not_available ||
                refused.error().text.find(launcher.remedy) == std::string::npos ||
                refused.error().text.find("runtime_allow_singletons") == std::string::npos) {
                return false;
            }
            RuntimeOptions options;
            options.allow_singletons = true;
            auto allowed = Runtime::create(options);
            return allowed && (*allowed)->is_singleton();
        })) << launcher.size_variable;
    }
}

TEST(Runtime, OneOfOneIsNoError) {
    EXPECT_TRUE(in_a_child([] {
        setenv("SLURM_STEP_NUM_TASKS", "1", 1);
        setenv("SLURM_PROCID", "0", 1);
        return bool(Runtime::create({}));
    }));
}

TEST(Runtime, AProgramThatARankStartedIsASingleton) {
    EXPECT_TRUE(in_a_child([] {
        setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
        setenv("OMPI_COMM_WORLD_RANK", "1", 1);
        setenv("PATCHBAY_CHILD_OF_RANK", "1", 1);
        auto runtime = Runtime::create({});
        return runtime && (*runtime)->is_singleton();
    }));
}

TEST(Runtime, AServerThatDoesNotAnswerIsAnError) {
    EXPECT_TRUE(in_a_child([] {
        setenv("PMIX_NAMESPACE", "gone", 1);
        setenv("PMIX_RANK", "0", 1);
        auto refused = Runtime::create({});
        RuntimeOptions options;
        options.allow_singletons = true;
        auto allowed = Runtime::create(options);
        return !refused && refused.error().text.find("mpirun") != std::string::npos && allowed &&
            (*allowed)->is_singleton() && entries("/proc/self/task") == 1;
    }));
}

TEST(Runtime, AbortEndsTheProcessWithTheCode) {
    pid_t child = fork();
    if (child == 0) {
        forget_launchers();
        auto runtime = Runtime::create({});
        (*runtime)->abort(37, "a test of abort");
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 37);
}

} // namespace
} // namespace patchbay
