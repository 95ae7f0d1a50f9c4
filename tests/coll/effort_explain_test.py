#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the library says about info key patchbay_effort: --explain has the candidates with their times, and which one was
chosen; verbose output has the same; a value that is none is reported once.

Arguments: PREFIX, the program timed_init.
"""

import os
import re
import subprocess
import sys
import unittest

PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv.pop(1), "lib/libmpi_abi.so.1"))))
PROGRAM = os.path.realpath(sys.argv.pop(1))
ROW = re.compile(r"coll +MPI_Allreduce_init on MPI_COMM_WORLD +((?:tuned|sm): .*?) +(chosen|lost) +\d+ +(.*)")


class EffortTest(unittest.TestCase):
    def output(self, effort, *options, number=1):
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(PREFIX, "lib"), HOME=os.environ.get("TEST_TMPDIR", "/tmp"))
        done = subprocess.run([os.path.join(PREFIX, "bin/mpirun"), "--timeout", "60", "-n", "2", *options, PROGRAM,
                               effort, str(number)], env=env, capture_output=True, text=True, timeout=90, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stderr.splitlines()

    def test_times_are_explained(self):
        rows = [ROW.match(line) for line in self.output("3", "--explain")]
        rows = [row.groups() for row in rows if row]
        candidates = {row[0] for row in rows}
        self.assertTrue({"tuned: doubling", "tuned: halves", "tuned: ring"} <= candidates, rows)
        chosen = [row for row in rows if row[1] == "chosen"]
        self.assertEqual(len(chosen), 1, rows)
        for _, _, reason in chosen:
            self.assertRegex(reason, r"^\d+\.\d{3} us, the least of %d candidates" % len(candidates))
        for _, outcome, reason in rows:
            if outcome == "lost":
                self.assertRegex(reason, r"^\d+\.\d{3} us, longer")

    def test_nothing_is_timed_without_a_wish(self):
        self.assertEqual([line for line in self.output("1", "--explain") if ROW.match(line)], [])

    def test_verbose(self):
        lines = [line for line in self.output("3", "--mca", "verbose", "1") if "MPI_Allreduce_init" in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], r":0\] patchbay: coll: MPI_Allreduce_init on MPI_COMM_WORLD: (tuned|sm): .*: \d+\.\d{3} us, ")

    def test_ill_value(self):
        lines = [line for line in self.output("fast", number=3) if "patchbay_effort" in line]
        self.assertEqual(len(lines), 2, lines)  # once in each process
        for line in lines:
            self.assertIn("the info key patchbay_effort of MPI_Allreduce_init is 'fast', which is ignored", line)


if __name__ == "__main__":
    unittest.main()
