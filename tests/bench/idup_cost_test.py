# SPDX-License-Identifier: BSD-3-Clause
"""An MPI_Comm_idup takes as many instructions with 10,000 outstanding ones as with 1,000: idup_cost_test.py PREFIX.
The time of one does grow, with the memory of the communicators (bench/outstanding.c); callgrind's count does not."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

PREFIX = os.path.realpath(sys.argv.pop(1))

PROGRAM = """
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    const int count = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm* comms = malloc(count * sizeof *comms);
    MPI_Request* requests = malloc(count * sizeof *requests);
    for (int n = 0; n < count; ++n) {
        MPI_Comm_idup(MPI_COMM_WORLD, &comms[n], &requests[n]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int n = 0; n < count; ++n) {
        MPI_Comm_free(&comms[n]);
    }
    MPI_Finalize();
    return 0;
}
"""


class IdupCost(unittest.TestCase):
    def test_instructions_do_not_grow(self):
        with tempfile.TemporaryDirectory() as folder:
            source, binary = os.path.join(folder, "idup.c"), os.path.join(folder, "idup")
            with open(source, "w", encoding="utf-8") as file:
                file.write(PROGRAM)
            subprocess.run([os.path.join(PREFIX, "bin", "mpicc"), "-O2", source, "-o", binary], check=True)

            def instructions(count):
                run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts", binary,
                                      str(count)], check=True, stderr=subprocess.PIPE, text=True)
                return int(re.search(r"refs:\s+([\d,]+)", run.stderr)[1].replace(",", ""))

            none, some, many = instructions(0), instructions(1000), instructions(10000)
            with_some, with_many = (some - none) / 1000, (many - none) / 10000
            print(f"instructions of MPI_Comm_idup, its completion and MPI_Comm_free: {with_some:.0f} with 1,000 outstanding, "
                  f"{with_many:.0f} with 10,000")
            self.assertLess(with_many, 1.05 * with_some)


unittest.main()
