#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which runs patchbay-ab makes, in which order, and which of them count; and runs with MPI libraries that are installed
beside this one: order_test.py PATCHBAY_AB.PY PREFIX
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv[1])
PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv[2], "lib/libmpi_abi.so.1"))))
NAMES = ("a", "b", "c")

# Its metric is the number of the run, which it also writes down with the variant's parameter.
MPIRUN = r"""#!/bin/bash
while [ "$1" != program ]; do
    [ "$1" = --mca ] && name=$3
    shift
done
echo "$name" >>"$RUN_LOG"
echo "METRIC run $(wc -l <"$RUN_LOG") runs lower"
"""

# Prints the library that it runs with, and the number of ranks.
SOURCE = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, rank, size;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(text, &length);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        printf("METRIC library %d which lower\n", strncmp(text, "Patchbay", 8) == 0 ? 1
            : strncmp(text, "MPICH", 5) == 0 ? 2 : strncmp(text, "Open MPI", 8) == 0 ? 3 : 0);
        printf("METRIC ranks %d ranks lower\n", size);
    }
    MPI_Finalize();
    return 0;
}
"""
LIBRARIES = {"mpich": 2, "openmpi": 3}


class Order(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "bin"))
        launcher = os.path.join(self.folder, "bin/mpirun")
        with open(launcher, "w", encoding="utf-8") as file:
            file.write(MPIRUN)
        os.chmod(launcher, 0o755)

    def runs(self, blocks, warm_up, seed):
        """The variants in the order in which they ran, and the samples that count."""
        log = os.path.join(self.folder, "log")
        if os.path.exists(log):
            os.unlink(log)
        env = dict(os.environ, PATCHBAY_PREFIX=self.folder, RUN_LOG=log)
        done = subprocess.run([sys.executable, TOOL, "--a", "name=a", "--b", "name=b", "--variant", "c:name=c",
                               "--blocks", str(blocks), "--warm-up", str(warm_up), "--seed", str(seed), "--json", "-",
                               "--", "program"], env=env, text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(log, encoding="utf-8") as file:
            return file.read().split(), json.loads(done.stdout)["samples"]["run"]["values"]

    def test_each_block_runs_every_variant_once(self):
        order, _ = self.runs(blocks=8, warm_up=2, seed=1)
        blocks = [tuple(order[i:i + len(NAMES)]) for i in range(0, len(order), len(NAMES))]
        self.assertEqual(len(blocks), 10)
        for block in blocks:
            self.assertEqual(sorted(block), list(NAMES))
        # Ten permutations of three are not all the same one, and no variant is always the first.
        self.assertGreater(len(set(blocks)), 2)
        self.assertGreater(len({block[0] for block in blocks}), 1)

    def test_seed_decides_the_order(self):
        self.assertEqual(self.runs(4, 1, seed=5)[0], self.runs(4, 1, seed=5)[0])
        self.assertNotEqual(self.runs(4, 1, seed=5)[0], self.runs(4, 1, seed=6)[0])

    def test_warm_up_does_not_count(self):
        for warm_up in (0, 1, 3):
            with self.subTest(warm_up=warm_up):
                order, samples = self.runs(blocks=4, warm_up=warm_up, seed=2)
                self.assertEqual(len(order), (4 + warm_up) * len(NAMES))
                for name in NAMES:
                    numbers = [i + 1 for i, run in enumerate(order) if run == name]
                    self.assertEqual(samples[name], numbers[warm_up:])


class OtherLibraries(unittest.TestCase):
    def test_each_runs_its_own_build(self):
        present = [name for name in LIBRARIES if shutil.which("mpirun." + name) and shutil.which("mpicc." + name)]
        for name in set(LIBRARIES) - set(present):
            print(f"\nSKIPPED: ab/order: {name}: not installed", flush=True)
        if not present:
            return
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "which.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write(SOURCE)
            env = {name: value for name, value in os.environ.items() if not name.startswith("PMIX_")}
            env.update(PATCHBAY_PREFIX=PREFIX, HOME=folder)
            options = [word for name in present for word in ("--peer", name)]
            done = subprocess.run([sys.executable, TOOL, *options, "-n", "2", "--blocks", "2", "--json", "-", "--",
                                   source], env=env, text=True, capture_output=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        samples = json.loads(done.stdout)["samples"]
        wanted = {"a": [1, 1], **{name: [LIBRARIES[name]] * 2 for name in present}}
        self.assertEqual(samples["library"]["values"], wanted)
        self.assertEqual(samples["ranks"]["values"], {name: [2, 2] for name in ["a", *present]})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
