#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lines of ranks that are spawned beside one whose output was passed on at once. mpi_lines_test.py PREFIX PROGRAM"""

import os
import sys

import harness


class Lines(harness.LaunchTest):
    def test_the_line_of_a_child_is_its_own(self):
        result = self.run_words("-n", "1", harness.RANK_PROGRAM)
        self.assert_result(result, 0)
        self.assertIn("a line", result.out.splitlines())
        self.assertEqual("".join(line for line in result.out.splitlines() if line != "a line"), "the beginningthe rest")


if __name__ == "__main__":
    PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv[1], "lib/libmpi_abi.so.1"))))
    os.environ["LD_LIBRARY_PATH"] = os.path.join(PREFIX, "lib")
    sys.argv[1] = os.path.join(PREFIX, "bin/mpirun")
    harness.main()
