#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpirun --explain states why the library locks and which bootstrap exchange it uses, also when the library decides
that after the table was first printed.

Arguments: PREFIX, the program locks.
"""

import os
import subprocess
import sys
import unittest

PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv.pop(1), "lib/libmpi_abi.so.1"))))
PROGRAM = os.path.realpath(sys.argv.pop(1))
OFF = ("declined", "one thread at a time uses the library")


class ExplainTest(unittest.TestCase):
    def explained(self, what):
        """The lines of the table."""
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(PREFIX, "lib"), HOME=os.environ.get("TEST_TMPDIR", "/tmp"))
        done = subprocess.run([os.path.join(PREFIX, "bin/mpirun"), "--timeout", "60", "-n", "2", "--explain", PROGRAM,
                               what], env=env, capture_output=True, text=True, timeout=90, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stderr.splitlines()

    def locks(self, what):
        """The rows about locks: outcome and reason."""
        rows = [line.split(None, 5) for line in self.explained(what) if line.startswith("progress ")]
        rows = [(row[3], row[5]) for row in rows if row[1:3] == ["job", "locks"]]
        if rows and "membarrier" in rows[0][1]:
            self.skipTest("the kernel refuses membarrier(2), so that the library locks from the start")
        return rows

    def test_one_thread(self):
        self.assertEqual(self.locks("one_thread"), [OFF])

    def test_world_with_several_threads(self):
        self.assertEqual(self.locks("world_multiple"), [("chosen", "the first user requested MPI_THREAD_MULTIPLE")])

    def test_later_session_with_several_threads(self):
        self.assertEqual(self.locks("session_multiple"), [
            OFF, ("chosen", "of 2 users (sessions, the world model) number 2 requested MPI_THREAD_MULTIPLE")])

    def test_another_thread(self):
        self.assertEqual(self.locks("other_thread"), [
            OFF, ("chosen", "a second thread communicates")])

    def test_closed_by_another_thread(self):
        self.assertEqual(self.locks("closed_elsewhere"), [
            OFF, ("chosen", "a session was finalized by another thread than the one that opened it")])

    def test_bootstrap(self):
        rows = [line.split() for line in self.explained("from_group") if "bootstrap exchange" in line]
        self.assertEqual([row[:5] for row in rows], [["cid", "bootstrap", "exchange", "node", "store"]])


if __name__ == "__main__":
    unittest.main()
