# SPDX-License-Identifier: BSD-3-Clause
"""The critical path of a message of 8 bytes takes few instructions, of which none is locked: message_cost_test.py PREFIX
BENCH, where BENCH is the folder of bench/instructions."""
import os
import re
import subprocess
import sys
import unittest

PREFIX, BENCH = (os.path.realpath(path) for path in sys.argv[1:3])
del sys.argv[1:3]

# The most instructions of each call, argument checks included. A row that is there several times has the same limit.
LIMITS = {
    "MPI_Send": 170,
    "MPI_Isend": 180,
    "MPI_Wait for it": 80,
    "MPI_Test of it": 80,
    "MPI_Start of a send": 120,
    "MPI_Start of a bound send": 60,
    "MPI_Start of a receive": 130,
    "MPI_Start of a bound receive": 60,
    "MPI_Irecv": 270,
    "MPI_Recv, message arrived": 550,
    "locked instructions": 0,
}


class MessageCost(unittest.TestCase):
    def test_limits(self):
        run = subprocess.run([os.path.join(BENCH, "instructions"), PREFIX], check=True, stdout=subprocess.PIPE, text=True)
        rows = re.findall(r"^(\S.*?)\s+(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)$", run.stdout, re.MULTILINE)
        self.assertLessEqual(LIMITS.keys(), {title for title, _, _ in rows}, run.stdout)
        for title, *counts in rows:
            for comm, count in zip(("MPI_COMM_WORLD", "a duplicate of it"), counts):
                with self.subTest(title, comm=comm):
                    self.assertLessEqual(float(count), LIMITS.get(title, float("inf")))


unittest.main()
