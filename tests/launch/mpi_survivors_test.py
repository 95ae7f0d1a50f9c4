#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank fails and the others go on: mpirun --disable-auto-cleanup. mpi_survivors_test.py PREFIX PROGRAM"""

import os
import signal
import sys

import harness


class Survivors(harness.LaunchTest):
    def check(self, what, ranks, *options, status=128 + signal.SIGKILL, cause="was killed by SIGKILL"):
        with self.subTest(what=what, ranks=ranks, options=options):
            result = self.run_words("-n", str(ranks), "--disable-auto-cleanup", "--timeout", "60", *options,
                                    harness.RANK_PROGRAM, what, limit=70)
            self.assert_result(result, status, err_lines=1)
            self.assertRegex(result.err, rf"^mpirun: rank {ranks - 1} on host \S+ {cause}")
            self.assertEqual(result.lines(), [f"rank {rank} survived" for rank in range(ranks - 1)])

    def test_what_waits_for_a_dead_rank_returns_an_error(self):
        self.check("operations", 3)
        self.check("operations", 5)
        self.check("operations", 3, "--mca", "btl_sm_single_copy", "none")

    def test_the_ranks_are_connected_by_sockets(self):
        for what in ["operations", "stream", "threads"]:
            self.check(what, 3, "--mca", "btl", "self,socket")

    def test_a_rank_leaves_without_finalizing(self):
        self.check("exit", 3, status=1, cause="exited with status 0, but without having finalized")

    def test_a_rank_ends_without_mpi(self):
        for what in ["silent", "silent-late"]:
            self.check(what, 3, status=1, cause="exited without having initialized MPI, as others have")

    def test_collectives_by_shared_memory(self):
        for ranks in [2, 3, 5]:
            self.check("collectives", ranks, "--mca", "coll_sm_where", "always")

    def test_a_rank_dies_in_the_middle_of_a_message(self):
        self.check("stream", 3, "--mca", "btl_sm_single_copy", "none")
        self.check("fetch", 3, "--mca", "btl_sm_single_copy", "cma")

    def test_a_process_of_another_job_ends_in_good_order(self):
        self.check("jobs", 2)
        self.check("jobs", 3)

    def test_a_spawn_fails(self):
        result = self.run_words("-n", "2", "--disable-auto-cleanup", "--timeout", "60", harness.RANK_PROGRAM, "spawn", limit=70)
        self.assertEqual((result.status, result.out), (0, ""), str(result))

    def test_several_threads_wait(self):
        self.check("threads", 3)

    def test_other_spelling(self):
        self.assert_result(self.run_words("--enable-recovery", "-n", "1", "true"), 0)


if __name__ == "__main__":
    PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv[1], "lib/libmpi_abi.so.1"))))
    os.environ["LD_LIBRARY_PATH"] = os.path.join(PREFIX, "lib")
    sys.argv[1] = os.path.join(PREFIX, "bin/mpirun")
    harness.main()
