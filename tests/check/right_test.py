#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Correct programs run to their end with mpi_check, and none of the checks finds anything:
right_test.py RUNTIME CHECKS RANKS PROGRAM[:ARGUMENT...]..."""
import os
import subprocess
import sys
import tempfile
import unittest


class Right(unittest.TestCase):
    runtime = checks = ""
    ranks = []
    programs = []

    def run_one(self, ranks, program, arguments):
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "HOME": home, "LD_LIBRARY_PATH": f"{self.runtime}/lib"}
            result = subprocess.run(
                [f"{self.runtime}/bin/mpirun", "--timeout", "120", "-n", str(ranks), "--mca", "mpi_check", self.checks,
                 program, *arguments],
                env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=150)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("mpi_check", result.stderr)

    def test_no_findings(self):
        for name in self.programs:
            program, *arguments = name.split(":")
            for ranks in self.ranks:
                with self.subTest(program=name, ranks=ranks):
                    self.run_one(ranks, os.path.realpath(program), arguments)


if __name__ == "__main__":
    runtime, Right.checks, ranks_text, *Right.programs = sys.argv[1:]
    library = os.path.realpath(os.path.join(runtime, "lib/libmpi_abi.so.1"))
    Right.runtime = os.path.dirname(os.path.dirname(library))
    Right.ranks = [int(word) for word in ranks_text.split(",")]
    unittest.main(argv=sys.argv[:1])
