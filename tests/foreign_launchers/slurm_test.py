#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program under a real Slurm, with its PMIx plugin and without."""

import os
import shutil
import sys
import tempfile

import common
import slurm


def check(srun, prefix, program, home, cluster):
    env = common.environment(prefix, home, **cluster.environment())
    _, plugins = common.run([srun, "--mpi=list"], env)
    if "pmix" not in plugins:
        common.skip("this Slurm has no PMIx plugin")
    for ranks in (1, common.RANKS):
        status, _ = common.run([srun, "--mpi=pmix", "-n", str(ranks), program, str(ranks)], env)
        common.expect(status == 0, f"srun --mpi=pmix, {ranks} ranks: exit status {status}")
    # Without PMIx the processes cannot find each other. Each must say so rather than run as a job of its own.
    status, text = common.run([srun, "--mpi=none", "-n", str(common.RANKS), program, "1"], env)
    common.expect(status != 0, "srun --mpi=none made jobs of one process each")
    common.expect("srun --mpi=pmix" in text, "srun --mpi=none: the remedy is not named")
    # One process is a job of one.
    status, _ = common.run([srun, "--mpi=none", "-n", "1", program, "1"], env)
    common.expect(status == 0, f"srun --mpi=none, 1 rank: exit status {status}")


def main(prefix, program):
    daemons = common.need("munged", "slurmctld", "slurmd")
    srun, sinfo, squeue, scancel = common.need("srun", "sinfo", "squeue", "scancel")
    # Slurm's sockets need a short path.
    directory = tempfile.mkdtemp(prefix="patchbay-slurm-", dir="/tmp")
    cluster = slurm.Slurm(directory, *daemons, sinfo, squeue, scancel, common.RANKS)
    try:
        cluster.start()
        check(srun, prefix, program, directory, cluster)
    finally:
        cluster.stop()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
