#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The programs under Open MPI's mpirun, whose PMIx server is then ours: openmpi_test.py RUNTIME PROGRAM..."""

import os
import shutil
import sys
import tempfile

import common

# What a rank prints when the server of Open MPI 4.1 takes a fence for the one before: in about 3 of 100 jobs with many
# fences one after the other (runtime_job).
SERVER_DEFECT = "fence: INVALID-ARG"
MOST_ATTEMPTS = 4


def check_job(command, env):
    """Runs a job that must end well; again if Open MPI's server has refused a fence."""
    for attempt in range(1, MOST_ATTEMPTS + 1):
        status, output = common.run(command, env)
        if SERVER_DEFECT not in output or attempt == MOST_ATTEMPTS:
            break
        print(f"attempt {attempt}: Open MPI's server has refused a fence; once more", flush=True)
    common.expect(status == 0, f"exit status {status}: {' '.join(command)}")


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
            for ranks in (1, 2, common.RANKS):
                command = [mpirun, "--oversubscribe", "-n", str(ranks), program, str(ranks)]
                report.measure(f"{name}_np{ranks}", lambda job=command: check_job(job, env), launches=1)
    report.write()
    return 1 if report.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
