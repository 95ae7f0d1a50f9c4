#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An MPI_Init that fails prints the cause, and what can be done.

Arguments: PREFIX, the program world_model.
"""

import os
import subprocess
import sys
import unittest

PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv.pop(1), "lib/libmpi_abi.so.1"))))
PROGRAM = os.path.realpath(sys.argv.pop(1))


class CauseTest(unittest.TestCase):
    def printed(self, *parameter):
        """What a process alone prints when it cannot be initialized."""
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(PREFIX, "lib"), HOME=os.environ.get("TEST_TMPDIR", "/tmp"))
        command = [os.path.join(PREFIX, "bin/mpirun"), "--timeout", "60", "-n", "1", "--mca", *parameter, PROGRAM]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=90, check=False)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_collectives_that_no_component_has(self):
        text = self.printed("coll", "inter")
        self.assertIn("MPI_COMM_WORLD could not be made: ", text)
        self.assertIn("no component of framework coll can be used for MPI_COMM_WORLD", text)
        self.assertIn("coll=inter", text)


if __name__ == "__main__":
    unittest.main()
