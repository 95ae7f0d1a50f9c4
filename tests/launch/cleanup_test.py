#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nothing stays behind, however the job or mpirun itself ends."""

import os
import signal
import subprocess

import harness


class Cleanup(harness.LaunchTest):
    def start_and_wait(self, *commands, ranks=2, **popen):
        """Starts ranks that sleep; answers mpirun, the node daemon and all processes of the ranks."""
        process = self.start("-n", str(ranks), harness.RANK_PROGRAM, "init", "fence", f"orphan={self.path('orphan')}",
                             *commands, f"pid={self.path('rank')}", "sleep=60", **popen)
        ranks_found = self.wait_for_pids("rank", ranks)
        orphans = self.wait_for_pids("orphan", ranks)
        launcher = ranks_found[0][1]
        return process, launcher, [pid for pid, _ in ranks_found] + [pid for pid, in orphans]

    def test_orphans_end_with_the_job(self):
        result = self.run_ranks(2, "init", "fence", f"orphan={self.path('orphan')}", "finalize")
        self.assert_result(result, 0, err_lines=0)
        self.assert_all_gone([pid for pid, in self.wait_for_pids("orphan", 2)], 0)
        self.assertLess(result.seconds, harness.END_LIMIT)

    def test_orphans_end_when_a_rank_dies(self):
        process, _, pids = self.start_and_wait()
        os.kill(pids[1], signal.SIGKILL)
        result = self.finish(process)
        self.assert_result(result, 128 + signal.SIGKILL, err_lines=1)
        self.assertLess(result.seconds, harness.END_LIMIT)
        self.assert_all_gone(pids, 0)

    def test_each_rank_killed(self):
        for rank in range(3):
            with self.subTest(rank=rank):
                for name in os.listdir(self.directory):
                    if name != "tmp":
                        os.unlink(self.path(name))
                process, launcher, pids = self.start_and_wait(ranks=3)
                os.kill(pids[rank], signal.SIGKILL)
                self.assert_result(self.finish(process), 128 + signal.SIGKILL, err_lines=1)
                self.assert_all_gone(pids + [launcher], 0)

    def test_mpirun_killed(self):
        process, launcher, pids = self.start_and_wait()
        process.kill()
        self.assert_all_gone(pids + [launcher])
        _, err = process.communicate()
        self.assertIn("was killed; ending all ranks", err)

    def test_process_group_of_mpirun_killed(self):
        process, launcher, pids = self.start_and_wait(start_new_session=True)
        os.killpg(process.pid, signal.SIGKILL)
        self.assert_all_gone(pids + [launcher])
        process.communicate()

    def test_everything_called_mpirun_killed(self):
        process, launcher, pids = self.start_and_wait()
        for pid in (process.pid, launcher):
            with open(f"/proc/{pid}/cmdline", encoding="ascii") as words:
                if "mpirun" in words.read():
                    os.kill(pid, signal.SIGKILL)
        self.assert_all_gone(pids + [process.pid, launcher])
        self.assertEqual(process.wait(), -signal.SIGKILL)
        process.communicate()

    def test_launcher_process_killed(self):
        process, launcher, pids = self.start_and_wait()
        os.kill(launcher, signal.SIGKILL)
        result = self.finish(process)
        self.assert_result(result, 128 + signal.SIGKILL, err_lines=1)
        self.assertIn("node daemon", result.err)
        self.assert_all_gone(pids, 0)

    def test_launcher_process_killed_and_the_messages_are_not_read(self):
        with harness.full_pipe() as full:
            process, launcher, pids = self.start_and_wait(stderr=full)
            os.kill(launcher, signal.SIGKILL)
            self.assert_all_gone(pids)
            process.terminate()
            self.assertTrue(harness.wait_until(lambda: process.poll() is not None), "mpirun has not ended")
            process.communicate()

    def test_mpirun_killed_while_ranks_ignore_sigterm(self):
        process, launcher, pids = self.start_and_wait("ignore=15")
        process.kill()
        self.assert_all_gone(pids + [launcher])
        process.communicate()

    def test_stopped_rank_is_ended(self):
        process, _, pids = self.start_and_wait()
        os.kill(pids[0], signal.SIGSTOP)
        os.kill(pids[1], signal.SIGKILL)
        self.assert_result(self.finish(process), 128 + signal.SIGKILL)
        self.assert_all_gone(pids, 0)

    def test_mpirun_killed_at_any_moment(self):
        for delay in range(0, 30, 2):
            process = self.start("-n", "4", harness.RANK_PROGRAM, "init", "fence", "sleep=60")
            harness.wait_until(lambda: False, delay / 1000)
            tree = harness.descendants(process.pid)
            process.kill()
            process.communicate()
            self.assert_all_gone(tree)

    def test_processes_of_before_are_left_alone(self):
        # The shell has a child when it becomes mpirun.
        process = subprocess.Popen(["sh", "-c", 'sleep 60 >/dev/null 2>&1 & echo $!; exec "$@"', "sh", harness.MPIRUN, "-n", "2",
                                    harness.RANK_PROGRAM, "print=up", "sleep=60"], env=self.environment(None),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        sleep = int(process.stdout.readline())
        self.addCleanup(lambda: os.kill(sleep, signal.SIGKILL))
        for _ in range(2):
            process.stdout.readline()
        daemon = next(pid for pid in harness.children_of(process.pid) if pid != sleep)
        ranks = harness.children_of(daemon)
        os.kill(daemon, signal.SIGKILL)
        result = self.finish(process)
        self.assertEqual(result.status, 128 + signal.SIGKILL, str(result))
        self.assert_all_gone(ranks)
        self.assertTrue(harness.process_alive(sleep))

    def test_proc_of_another_pid_namespace(self):
        unshare = ["unshare", "--pid", "--fork", "sh", "-c"]
        if subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("SKIPPED: PID namespaces: this user may make none")
        # The namespace, and so what is left in it, ends with the shell.
        for program, status in (("exit 3", 3), ("sleep 60 & exit 0", 0), ("kill -9 $$", 137)):
            process = subprocess.Popen([*unshare, '"$@"; exit $?', "sh", harness.MPIRUN, "-n", "2", "sh", "-c", program],
                                       env=self.environment(None), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            self.addCleanup(lambda started=process: started.poll() is None and started.kill())
            result = self.finish(process)
            self.assertEqual(result.status, status, str(result))
            self.assertEqual("is not that of this PID namespace" in result.err, program.startswith("sleep"), str(result))

    def test_segment_is_shared_and_has_no_name(self):
        before = set(os.listdir("/dev/shm"))
        result = self.run_ranks(3, "init", "segment=1048576", "finalize")
        self.assert_result(result, 0, err_lines=0)
        self.assertEqual(result.out, "segment ok\n" * 3)
        self.assertEqual(set(os.listdir("/dev/shm")) - before, set())

    def test_ranks_inherit_only_what_the_node_shares(self):
        result = self.run_ranks(3, "fds", stdin=None)
        self.assert_result(result, 0)
        for line in result.lines():
            # The segment, and the table of printed errors.
            self.assertRegex(line, r"^open 0,1,2,\d+,\d+$")

    def test_silent_consumer_does_not_hold_the_end(self):
        # The reader of the output has closed it; the ranks get SIGPIPE as they would without mpirun.
        process = self.start("-n", "2", "sh", "-c", "yes", stderr=subprocess.DEVNULL)
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual(process.wait(harness.END_LIMIT), 128 + signal.SIGPIPE)


if __name__ == "__main__":
    harness.main()
