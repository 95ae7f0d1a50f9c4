#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program under Open MPI's mpirun, whose PMIx server is then ours."""

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


def main(prefix, program):
    mpirun = mpirun_of_open_mpi()
    with tempfile.TemporaryDirectory(prefix="patchbay-ompi-", dir="/tmp") as home:
        env = common.environment(prefix, home, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        for ranks in (1, 2, common.RANKS):
            status, _ = common.run([mpirun, "--oversubscribe", "-n", str(ranks), program, str(ranks)], env)
            common.expect(status == 0, f"{ranks} ranks: exit status {status}")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
