#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The programs under Open MPI's mpirun, whose PMIx server is then ours: openmpi_test.py RUNTIME PROGRAM..."""

import os
import shutil
import sys
import tempfile

import common


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
                report.measure(f"{name}_np{ranks}", lambda job=command: common.check_job(job, env), launches=1)
    report.write()
    return 1 if report.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
