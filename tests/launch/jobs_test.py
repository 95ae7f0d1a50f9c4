#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Several jobs under one mpirun: ranks start others by PMIx_Spawn."""

import re
import signal

import harness


class Jobs(harness.LaunchTest):
    def test_a_spawned_job(self):
        result = self.run_ranks(2, "init", "job", "0/spawn=3:init job finalize", "finalize")
        self.assert_result(result, 0, err_lines=0)
        lines = [re.sub(r"universe \d+", "universe U", line) for line in result.lines()]
        self.assertEqual(lines, [f"rank {rank} of {size}, app 0 of 1, local {rank} of {size}, universe U, peers {peers}"
                                 for rank, size, peers in ((0, 2, "0,1"), (0, 3, "0,1,2"), (1, 2, "0,1"),
                                                           (1, 3, "0,1,2"), (2, 3, "0,1,2"))] + ["spawned"])

    def test_jobs_find_each_other_by_a_published_name(self):
        result = self.run_ranks(1, "init", "publish=parent", "spawn=2:init 0/publish=child fence lookup=parent finalize",
                                "lookup=child", "finalize")
        self.assert_result(result, 0, err_lines=0)
        self.assertEqual(result.lines(), ["rank 0 found here I am of rank 0"] * 2 +
                         ["rank 1 found here I am of rank 0", "spawned"])

    def test_spawned_ranks_spawn(self):
        result = self.run_ranks(1, "init", "spawn=1:init spawn=1:print=grandchild print=child finalize", "finalize")
        self.assert_result(result, 0)
        self.assertEqual([line for line in result.lines() if line != "spawned"], ["child", "grandchild"])

    def test_many_jobs_one_after_the_other(self):
        words = ["spawn=2:init fence finalize"] * 40
        result = self.run_ranks(1, "init", *words, "finalize", limit=60)
        self.assert_result(result, 0, err_lines=0)

    def test_the_output_has_the_name_of_the_job(self):
        result = self.run_ranks(1, "init", "print=x", "spawn=1:print=y", "finalize", options=["--tag-output"])
        self.assert_result(result, 0)
        self.assertIn("[0]<stdout>: x\n", result.out)
        self.assertIn("[1.0]<stdout>: y\n", result.out)

    def test_mpirun_waits_for_a_spawned_job(self):
        result = self.run_ranks(1, "init", "spawn=1:sleep=0.5 print=late", "finalize")
        self.assert_result(result, 0)
        self.assertIn("late\n", result.out)

    def test_a_program_that_is_not_there(self):
        result = self.run_ranks(1, "init", "spawn-missing=/no/such/program", "print=on", "finalize")
        self.assert_result(result, 0, err_lines=1)
        self.assertIn("PMIx_Spawn: ", result.err)
        self.assertEqual(result.out, "on\n")

    def test_a_rank_of_a_spawned_job_dies(self):
        result = self.run_ranks(2, "init", "0/spawn=2:init fence 1/signal=11 sleep=60", "sleep=60")
        self.assert_result(result, 128 + signal.SIGSEGV, err_lines=1)
        self.assertRegex(result.err, r"rank 1 of job 1 on host \S+ was killed by SIGSEGV .*ending the other 3 ranks")

    def test_a_spawned_job_ends_with_mpirun(self):
        process = self.start("-n", "1", harness.RANK_PROGRAM, "init", f"spawn=2:pid={self.path('pid')} sleep=60",
                             "sleep=60")
        pids = [pid for pid, _ in self.wait_for_pids("pid", 2)]
        process.terminate()
        self.assertEqual(self.finish(process).status, 128 + signal.SIGTERM)
        self.assert_all_gone(pids)


if __name__ == "__main__":
    harness.main()
