# SPDX-License-Identifier: BSD-3-Clause
"""Time limits and clean-up: whatever a program does, no process of it stays behind and no other process is touched."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(sys.argv.pop(1))))
import processes  # noqa: E402


def start_outsider():
    """A process that is not below this one: its parent ends while this process is no subreaper yet."""
    result = subprocess.run(["sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!"], stdout=subprocess.PIPE, check=True)
    return int(result.stdout)


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.outsider = start_outsider()
        cls.addClassCleanup(lambda: os.kill(cls.outsider, signal.SIGKILL))
        deadline = time.monotonic() + 10
        while processes.is_below(cls.outsider, os.getpid()):
            assert time.monotonic() < deadline, "the process did not become an orphan"
            time.sleep(0.01)
        processes.become_subreaper()

    def run_script(self, script, limit=20.0, grace=0.3):
        with tempfile.NamedTemporaryFile(dir=os.environ.get("TEST_TMPDIR")) as log:
            ended = processes.run(["bash", "-c", script], "/", dict(os.environ), limit, log.name, grace)
            log.seek(0)
            output = log.read().decode()
        self.assertEqual(processes.descendants(os.getpid()), [], "processes were left")
        self.assertTrue(os.path.exists(f"/proc/{self.outsider}"), "a process outside of the job was ended")
        return ended, output

    def test_status_and_output(self):
        ended, output = self.run_script("echo one; echo two >&2; exit 3")
        self.assertEqual((ended.status, ended.timed_out, ended.left_behind), (3, False, 0))
        self.assertEqual(output, "one\ntwo\n")

    def test_signal_is_reported_as_by_a_shell(self):
        ended, _ = self.run_script("kill -SEGV $$")
        self.assertEqual(ended.status, 139)

    def test_time_limit(self):
        ended, output = self.run_script("echo begun; exec sleep 60", limit=0.5)
        self.assertTrue(ended.timed_out)
        self.assertEqual(ended.status, 143)
        self.assertEqual(output, "begun\n")
        self.assertLess(ended.seconds, 10)

    def test_program_that_ignores_sigterm(self):
        ended, _ = self.run_script("trap '' TERM; while :; do sleep 0.1; done", limit=0.5)
        self.assertTrue(ended.timed_out)
        self.assertEqual(ended.status, 137)
        self.assertLess(ended.seconds, 10)

    def test_program_that_uses_sigterm_to_tidy_up(self):
        ended, output = self.run_script("trap 'echo tidy; exit 9' TERM; sleep 60 & wait", limit=0.5, grace=5)
        self.assertTrue(ended.timed_out)
        self.assertEqual((ended.status, output), (9, "tidy\n"))

    def test_orphans_in_sessions_of_their_own(self):
        stubborn = "trap \"\" TERM HUP; while :; do sleep 0.1; done"
        ended, _ = self.run_script(f"setsid bash -c '{stubborn}' & setsid bash -c '{stubborn}' & sleep 60", limit=0.5)
        self.assertTrue(ended.timed_out)

    def test_what_a_finished_program_leaves_is_counted_and_ended(self):
        ended, _ = self.run_script("setsid sleep 60 & sleep 0.1; exit 0")
        self.assertEqual((ended.status, ended.left_behind), (0, 1))

    def test_what_ends_soon_after_the_program_is_no_leftover(self):
        ended, _ = self.run_script("(sleep 0.2) & exit 0")
        self.assertEqual((ended.status, ended.left_behind), (0, 0))

    def test_processes_that_go_on_forking(self):
        chain = "f() { sleep 0.02; (f) & }; f; exit 0"
        ended, _ = self.run_script(chain)
        self.assertEqual(ended.status, 0)
        self.assertGreater(ended.left_behind, 0)

    def test_flood_of_output(self):
        self.addCleanup(setattr, processes, "OUTPUT_LIMIT", processes.OUTPUT_LIMIT)
        processes.OUTPUT_LIMIT = 1 << 20
        # About 2 MB, then silence: the limit must be seen, not the disk filled.
        ended, _ = self.run_script("head -c 2000000 /dev/zero; sleep 60", limit=30)
        self.assertTrue(ended.flooded)
        self.assertFalse(ended.timed_out)

    def test_process_of_somebody_else_is_not_killed(self):
        processes.kill_descendant(self.outsider)
        time.sleep(0.1)
        entry = processes.parent_and_state(self.outsider)
        self.assertIsNotNone(entry)
        self.assertNotEqual(entry[1], "Z")

    def test_own_child_is_killed(self):
        child = subprocess.Popen(["sleep", "60"])
        processes.kill_descendant(child.pid)
        self.assertEqual(child.wait(10), -signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
