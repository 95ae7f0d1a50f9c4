#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nothing stays behind of an MPI job whose ranks, or whose mpirun, are killed: no process after two seconds, no file,
no shared memory. mpi_cleanup_test.py PREFIX MPI_RANK_PROGRAM
"""

import os
import signal
import sys

import harness

RANKS = 3
BUSY = ("receive", "messages", "barrier", "groups")
# The backing of the node segment: inherited from mpirun, or a file that the ranks make. The file is unlinked once all
# ranks have opened it.
BACKINGS = ("memfd", "file")


class MpiCleanup(harness.LaunchTest):
    def setUp(self):
        super().setUp()
        self.segments = self.path("segments")
        os.mkdir(self.segments)

    def tearDown(self):
        self.assertEqual(os.listdir(self.segments), [], "left in shm_directory")
        super().tearDown()

    def cases(self):
        for what in BUSY:
            for backing in BACKINGS:
                for name in os.listdir(self.directory):
                    if name.startswith("rank."):
                        os.unlink(self.path(name))
                with self.subTest(what=what, backing=backing):
                    yield what, backing

    def start_busy(self, what, backing, **popen):
        """A job whose ranks are busy; answers mpirun, the node daemon and the ranks."""
        source = ["--mca", "cid_excid_source", "launcher"] if what == "groups" else []
        process = self.start("-n", str(RANKS), "--mca", "shm_backing", backing, "--mca", "shm_directory", self.segments,
                             *source, harness.RANK_PROGRAM, self.path("rank"), what, **popen)
        pids = self.wait_for_pids("rank", RANKS)
        for pid, _ in pids:
            self.assertTrue(harness.process_alive(pid))
        return process, pids[0][1], [pid for pid, _ in pids]

    def test_a_rank_is_killed(self):
        for number, (what, backing) in enumerate(self.cases()):
            process, launcher, ranks = self.start_busy(what, backing)
            os.kill(ranks[number % RANKS], signal.SIGKILL)
            result = self.finish(process)
            self.assert_result(result, 128 + signal.SIGKILL, err_lines=1)
            self.assertIn(f"rank {number % RANKS} on host", result.err)
            self.assertLess(result.seconds, harness.END_LIMIT)
            self.assert_all_gone(ranks + [launcher], 0)

    def test_a_rank_that_cannot_be_initialized(self):
        program = [harness.RANK_PROGRAM, self.path("rank"), "receive"]
        result = self.run_words("-n", "1", "-x", "PATCHBAY_MCA_btl=nonexistent", *program, ":", "-n", "2", *program)
        self.assert_result(result, 16, err_lines=1)
        self.assertIn("exited with status 16 without having finalized; ending the other 2 ranks", result.err)

    def test_a_rank_crashes(self):
        for what, backing in self.cases():
            process, launcher, ranks = self.start_busy(what, backing)
            os.kill(ranks[-1], signal.SIGSEGV)
            result = self.finish(process)
            self.assert_result(result, 128 + signal.SIGSEGV, err_lines=1)
            self.assertLess(result.seconds, harness.END_LIMIT)
            self.assert_all_gone(ranks + [launcher], 0)

    def test_mpirun_is_killed(self):
        for what, backing in self.cases():
            process, launcher, ranks = self.start_busy(what, backing)
            process.kill()
            self.assert_all_gone(ranks + [launcher])
            process.communicate()

    def test_launcher_process_is_killed(self):
        for what, backing in self.cases():
            process, launcher, ranks = self.start_busy(what, backing)
            os.kill(launcher, signal.SIGKILL)
            result = self.finish(process)
            self.assert_result(result, 128 + signal.SIGKILL)
            self.assert_all_gone(ranks, 0)

    def test_mpirun_is_terminated(self):
        for what, backing in self.cases():
            process, launcher, ranks = self.start_busy(what, backing)
            process.terminate()
            result = self.finish(process)
            self.assert_result(result, 128 + signal.SIGTERM)
            self.assertLess(result.seconds, harness.END_LIMIT)
            self.assert_all_gone(ranks + [launcher], 0)

    def test_parents_and_children(self):
        # By number: a parent, a child, mpirun itself, the node daemon.
        for name, victim in (("parent", 1), ("child", RANKS), ("mpirun", -1), ("daemon", -2)):
            with self.subTest(killed=name):
                for old in os.listdir(self.directory):
                    if old.startswith("rank."):
                        os.unlink(self.path(old))
                process = self.start("-n", str(RANKS), harness.RANK_PROGRAM, self.path("rank"), "spawn")
                pids = self.wait_for_pids("rank", RANKS + 2)
                processes = [pid for pid, _ in pids] + [pids[0][1], process.pid]
                os.kill(processes[victim], signal.SIGKILL)
                result = self.finish(process)
                if victim != -1:
                    self.assert_result(result, 128 + signal.SIGKILL)
                self.assert_all_gone(processes[:-1])

    def test_mpirun_is_killed_while_ranks_start(self):
        # MPI_Init may have reached any point. The ranks' processes are those that mpirun has started by that time.
        for delay in range(0, 60, 4):
            process = self.start("-n", str(RANKS), harness.RANK_PROGRAM, self.path("rank"), "receive")
            harness.wait_until(lambda: False, delay / 1000)
            tree = harness.descendants(process.pid)
            process.kill()
            process.communicate()
            self.assert_all_gone(tree)


if __name__ == "__main__":
    PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv[1], "lib/libmpi_abi.so.1"))))
    os.environ["LD_LIBRARY_PATH"] = os.path.join(PREFIX, "lib")
    sys.argv[1] = os.path.join(PREFIX, "bin/mpirun")
    harness.main()
