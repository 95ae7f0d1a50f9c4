#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank fails that has channels with others, over each component of framework chan, or persistent collectives by shared
memory: with mpirun --disable-auto-cleanup the others get errors, without it the job ends.
mpi_channel_survivors_test.py PREFIX PROGRAM COMPONENT..."""

import os
import signal
import sys

import harness

COMPONENTS = []


class Survivors(harness.LaunchTest):
    def each(self, *options):
        cases = [(["--mca", "chan", component, "--mca", "coll", "^sm", "--mca", "coll_channels", "all"], when)
                 for component in COMPONENTS for when in ("bind", "use", "unbind", "collective")]
        cases.append((["--mca", "coll_sm_where", "always"], "collective"))
        # Processes that sleep at once call rarely.
        cases.append((["--mca", "coll_sm_where", "always", "--mca", "wait_yield", "0us"], "collective"))
        for parameters, when in cases:
            with self.subTest(parameters=parameters, when=when):
                yield self.run_words("-n", "3", *parameters, "--timeout", "60", *options, harness.RANK_PROGRAM, when,
                                     limit=70)

    def test_the_others_get_errors(self):
        for result in self.each("--disable-auto-cleanup"):
            self.assert_result(result, 128 + signal.SIGKILL, err_lines=1)
            self.assertEqual(result.lines(), [f"rank {rank} survived" for rank in range(2)], str(result))

    def test_the_job_ends(self):
        for result in self.each():
            self.assert_result(result, 128 + signal.SIGKILL)
            self.assertLess(result.seconds, 30)


if __name__ == "__main__":
    PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv[1], "lib/libmpi_abi.so.1"))))
    os.environ["LD_LIBRARY_PATH"] = os.path.join(PREFIX, "lib")
    sys.argv[1] = os.path.join(PREFIX, "bin/mpirun")
    COMPONENTS = sys.argv[3:]
    del sys.argv[3:]
    harness.main()
