#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The programs under Open MPI's mpirun, whose PMIx server is then ours: openmpi_test.py RUNTIME PROGRAM..."""

import os
import shutil
import subprocess
import sys
import tempfile

import common

# The server of Open MPI 4.1 takes a fence for the one before when many follow each other. In up to 10 of 100 jobs of this
# program, more on a loaded machine, a fence is refused, ends without the data of all ranks, or never ends. Under our server
# and Slurm's the program has one attempt (tests/core_runtime, slurm_test.py).
MANY_FENCES = "runtime_job"
MOST_ATTEMPTS = 4
LIMIT_OF_MANY_FENCES = 20  # seconds; the job takes less than one


def attempt_job(command, env, limit):
    """Whether the job has ended well."""
    try:
        status, _ = common.run(command, env, limit)
    except subprocess.TimeoutExpired:
        return False
    return status == 0


def check_many_fences(command, env):
    """Runs a job that must end well in one of few attempts."""
    for attempt in range(1, MOST_ATTEMPTS + 1):
        if attempt_job(command, env, LIMIT_OF_MANY_FENCES):
            return
        print(f"attempt {attempt} of {MOST_ATTEMPTS} has failed under Open MPI's server", flush=True)
    common.expect(False, f"{MOST_ATTEMPTS} attempts have failed: {' '.join(command)}")


def mpirun_of_open_mpi():
    """By the name that Debian gives it, or the plain one when that is Open MPI's; a path would mean --prefix to it."""
    mpirun = "mpirun.openmpi" if shutil.which("mpirun.openmpi") else "mpirun"
    common.need(mpirun)
    status, version = common.run([mpirun, "--version"], dict(os.environ))
    if status != 0 or "Open" not in version:
        common.skip(f"{mpirun} is not Open MPI's")
    return mpirun


def main():
    runtime, programs = common.arguments()
    mpirun = mpirun_of_open_mpi()
    report = common.case_report.Report()
    with tempfile.TemporaryDirectory(prefix="patchbay-ompi-", dir="/tmp") as home:
        env = common.environment(runtime, home, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        for name, program in programs.items():
            check = check_many_fences if name == MANY_FENCES else common.check_job
            for ranks in (1, 2, common.RANKS):
                command = [mpirun, "--oversubscribe", "-n", str(ranks), program, str(ranks)]
                report.measure(f"{name}_np{ranks}", lambda job=command, run=check: run(job, env), launches=1)
    report.write()
    return 1 if report.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
