#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank fails in one-sided communication, over each component of framework osc: with mpirun --disable-auto-cleanup the
others get errors, without it the job ends. mpi_rma_survivors_test.py PREFIX PROGRAM COMPONENT..."""

import os
import signal
import sys

import harness

SUBJECTS = ("holder", "late", "waiter", "reader", "all", "target", "fence", "post", "complete", "operations", "free")
# What survivors need not learn of.
# osc/sm: the memory of a failed process outlives it, and nobody waits for that process.
# osc/pt2pt: a fence fails only in those members that wait for a message of the failed process.
EXCLUDED = {"sm": ("target", "operations"), "pt2pt": ("fence",)}
COMPONENTS = []


class Survivors(harness.LaunchTest):
    def run_subject(self, component, what, *arguments, ranks, options=()):
        return self.run_words("-n", str(ranks), "--mca", "osc", component, "--timeout", "60", *options,
                              harness.RANK_PROGRAM, what, *arguments, limit=70)

    @staticmethod
    def each(excluded=None):
        for component in COMPONENTS:
            for what in SUBJECTS:
                if what in (excluded or {}).get(component, ()):
                    continue
                for arguments in (("create",),) if component == "rdma" and what != "late" else ((), ("create",)):
                    if component == "sm" and arguments:
                        continue  # it serves memory that it has allocated itself
                    yield component, what, arguments

    def test_the_others_get_errors(self):
        for component, what, arguments in self.each(EXCLUDED):
            with self.subTest(component=component, what=what, arguments=arguments):
                result = self.run_subject(component, what, *arguments, ranks=4, options=["--disable-auto-cleanup"])
                self.assert_result(result, 128 + signal.SIGKILL, err_lines=1)
                self.assertEqual(result.lines(), [f"rank {rank} survived" for rank in range(3)], str(result))

    def test_the_job_ends(self):
        for component, what, arguments in self.each({component: ("waiter",) for component in COMPONENTS}):
            with self.subTest(component=component, what=what, arguments=arguments):
                result = self.run_subject(component, what, *arguments, ranks=4)
                self.assert_result(result, 128 + signal.SIGKILL)
                self.assertLess(result.seconds, 30)


if __name__ == "__main__":
    PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv[1], "lib/libmpi_abi.so.1"))))
    os.environ["LD_LIBRARY_PATH"] = os.path.join(PREFIX, "lib")
    sys.argv[1] = os.path.join(PREFIX, "bin/mpirun")
    COMPONENTS = sys.argv[3:]
    del sys.argv[3:]
    harness.main()
