#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank of a window is killed, and the others go on: failure_test.py FILE_OF_PREFIX PROGRAM"""

import os
import signal
import subprocess
import sys
import unittest

PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv[1], "lib/libmpi_abi.so.1"))))
PROGRAM = sys.argv[2]


class Failure(unittest.TestCase):
    def check(self, what, ranks=3, *options):
        with self.subTest(what=what, options=options):
            command = [os.path.join(PREFIX, "bin/mpirun"), "-n", str(ranks), "--disable-auto-cleanup", "--timeout",
                       "40", "--mca", "osc", "pt2pt", *options, PROGRAM, what]
            environment = dict(os.environ, LD_LIBRARY_PATH=os.path.join(PREFIX, "lib"))
            result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
            output = result.stdout + result.stderr
            self.assertEqual(result.returncode, 128 + signal.SIGKILL, output)
            self.assertEqual(sorted(result.stdout.splitlines()), [f"rank {i} survived" for i in range(ranks - 1)], output)

    def test_waits_for_the_killed_rank_end(self):
        for what in ["flush", "long_flush", "get", "start", "wait", "fence", "credits"]:
            self.check(what)

    def test_its_lock_is_refused(self):
        self.check("lock", 4)
        self.check("lock", 4, "--mca", "osc_pt2pt_credits", "8", "--mca", "osc_pt2pt_inline", "256")

    def test_one_that_has_left_is_not_waited_for(self):
        self.check("leave", 4)

    def test_with_a_progress_thread(self):
        self.check("leave", 4, "--mca", "osc_pt2pt_progress", "thread")
        self.check("lock", 3, "--mca", "osc_pt2pt_progress", "thread")
        self.check("start", 3, "--mca", "osc_pt2pt_progress", "thread")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
