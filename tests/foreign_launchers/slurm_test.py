#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The programs under a real Slurm, with its PMIx plugin and without: slurm_test.py RUNTIME PROGRAM..."""

import os
import shutil
import sys
import tempfile

import common
import slurm


def check_without_pmix(srun, program, env):
    """The processes cannot find each other. Each must report that and not run as a singleton."""
    status, text = common.run([srun, "--mpi=none", "-n", str(common.RANKS), program, "1"], env)
    common.expect(status != 0, "srun --mpi=none made jobs of one process each")
    common.expect("srun --mpi=pmix" in text, "srun --mpi=none: the remedy is not named")


def check(srun, name, program, env, report):
    for ranks in (1, common.RANKS):
        report.measure(f"{name}_np{ranks}", lambda n=ranks: common.check_job(
            [srun, "--mpi=pmix", "-n", str(n), program, str(n)], env), launches=1)
    report.measure(f"{name}_without_pmix_np{common.RANKS}", lambda: check_without_pmix(srun, program, env), launches=1)
    # One process is a job of one.
    report.measure(f"{name}_without_pmix_np1", lambda: common.check_job(
        [srun, "--mpi=none", "-n", "1", program, "1"], env), launches=1)


def main():
    runtime, programs = common.arguments()
    daemons = common.need("munged", "slurmctld", "slurmd")
    srun, sinfo, squeue, scancel = common.need("srun", "sinfo", "squeue", "scancel")
    report = common.case_report.Report()
    # Slurm's sockets need a short path.
    directory = tempfile.mkdtemp(prefix="patchbay-slurm-", dir="/tmp")
    cluster = slurm.Slurm(directory, *daemons, sinfo, squeue, scancel, common.RANKS)
    try:
        cluster.start()
        env = common.environment(runtime, directory, **cluster.environment())
        _, plugins = common.run([srun, "--mpi=list"], env)
        if "pmix" not in plugins:
            common.skip("this Slurm has no PMIx plugin")
        for name, program in programs.items():
            check(srun, name, program, env, report)
    finally:
        cluster.stop()
        shutil.rmtree(directory)
    report.write()
    return 1 if report.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
