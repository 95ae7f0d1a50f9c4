#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI_ERRORS_ABORT of a session ends only the process (MPI-5.0, 9.3): others go on where mpirun lets them.

Arguments: PREFIX, the program session_abort.
"""

import os
import subprocess
import sys
import unittest

PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv.pop(1), "lib/libmpi_abi.so.1"))))
PROGRAM = os.path.realpath(sys.argv.pop(1))


class SessionAbortTest(unittest.TestCase):
    def run_with(self, *options):
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(PREFIX, "lib"), HOME=os.environ.get("TEST_TMPDIR", "/tmp"))
        done = subprocess.run([os.path.join(PREFIX, "bin/mpirun"), "--timeout", "60", *options, "-n", "2", PROGRAM],
                              env=env, capture_output=True, text=True, timeout=90, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the session has the error handler MPI_ERRORS_ABORT, so this process ends", done.stderr)
        return done.stdout

    def test_others_go_on(self):
        self.assertEqual(self.run_with("--disable-auto-cleanup"), "rank 1 is there\n")

    def test_mpirun_ends_the_job_by_default(self):
        self.assertEqual(self.run_with(), "")


if __name__ == "__main__":
    unittest.main()
