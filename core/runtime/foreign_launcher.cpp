// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/foreign_launcher.h"

#include "core/runtime/launch_environment.h"

#include <cstdlib>

namespace patchbay {

namespace {
// What a launcher leaves in the environment of each process of a job, and how to start the same job with PMIx.
struct Launcher {
    const char* name;
    const char* size_variable;
    const char* rank_variable;
    const char* remedy;
};

// Of Slurm only the step's size counts: SLURM_NTASKS is also set in a batch script, where running alone is right.
constexpr Launcher launchers[] = {
    {"srun without PMIx", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID",
        "start it with srun --mpi=pmix, or with Patchbay's mpirun"},
    {"the mpirun of Open MPI, without its PMIx server", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
        "start it with Patchbay's mpirun (is another mpirun first in PATH?)"},
    {"a PMI launcher (the mpirun of MPICH or Intel MPI)", "PMI_SIZE", "PMI_RANK",
        "start it with Patchbay's mpirun (is another mpirun first in PATH?)"},
    {"the mpirun of MVAPICH", "MPIRUN_NPROCS", "MPIRUN_RANK", "start it with Patchbay's mpirun"},
};

long number(const char* variable) {
    const char* text = std::getenv(variable);
    return text == nullptr ? -1 : std::strtol(text, nullptr, 10);
}
} // namespace

std::optional<std::string> started_without_pmix() {
    if (std::getenv(child_variable) != nullptr) {
        return std::nullopt;
    }
    for (const Launcher& launcher : launchers) {
        long size = number(launcher.size_variable);
        if (size > 1 && number(launcher.rank_variable) >= 0) {
            return std::string("this process was started as one of ") + std::to_string(size) + " by " + launcher.name +
                " (" + launcher.size_variable + " is set, PMIX_RANK is not), so it cannot find the others; " +
                launcher.remedy +
                "; to run each process alone as a job of size 1, set "
                "PATCHBAY_MCA_runtime_allow_singletons=true";
        }
    }
    return std::nullopt;
}

} // namespace patchbay
