#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Signals to mpirun: passed on once, a second one kills."""

import os
import signal
import subprocess
import sys

import harness


class Signals(harness.LaunchTest):
    def start_ranks(self, *commands, **popen):
        process = self.start("-n", "2", harness.RANK_PROGRAM, *commands, "init", "fence", f"pid={self.path('rank')}",
                             "sleep=60", "sleep=60", "sleep=60", "finalize", **popen)
        pids = [pid for pid, _ in self.wait_for_pids("rank", 2)]
        return process, pids

    def read_lines(self, process, number):
        """The next lines that the ranks print. What comes after them is left to finish()."""
        text = b""
        while text.count(b"\n") < number:
            more = os.read(process.stdout.fileno(), 1)
            self.assertNotEqual(more, b"", f"mpirun ended after {text}")
            text += more
        return text.decode().splitlines()

    def signal_and_see(self, process, number):
        """Sends mpirun a signal that both ranks catch; returns when both have done so."""
        process.send_signal(number)
        self.assertEqual(self.read_lines(process, 2), [f"caught {int(number):02}"] * 2)

    def test_passed_on(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number=number):
                for rank in range(2):
                    if os.path.exists(f"{self.path('rank')}.{rank}"):
                        os.unlink(f"{self.path('rank')}.{rank}")
                process, pids = self.start_ranks()
                process.send_signal(number)
                result = self.finish(process)
                self.assert_result(result, 128 + number, err_lines=1)
                self.assertIn(f"received {number.name}", result.err)
                self.assertLess(result.seconds, harness.END_LIMIT)
                self.assert_all_gone(pids, 0)

    def test_ranks_may_end_in_their_own_way(self):
        process = self.start("-n", "2", harness.RANK_PROGRAM, "end-at=15", f"pid={self.path('rank')}", "sleep=60")
        self.wait_for_pids("rank", 2)
        process.terminate()
        result = self.finish(process)
        self.assert_result(result, 0, err_lines=1)

    def test_second_kills(self):
        process, pids = self.start_ranks("catch=2")
        self.signal_and_see(process, signal.SIGINT)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assert_result(result, 128 + signal.SIGINT, err_lines=2)
        self.assertEqual(result.out, "")
        self.assertLess(result.seconds, harness.END_LIMIT)
        self.assert_all_gone(pids, 0)

    def test_two_signals(self):
        process, _ = self.start_ranks("catch=2")
        self.signal_and_see(process, signal.SIGINT)
        process.terminate()
        result = self.finish(process)
        self.assert_result(result, 128 + signal.SIGTERM, err_lines=2)
        self.assertIn("received SIGTERM (Terminated); killing all ranks", result.err)

    def test_rank_in_another_process_group(self):
        program = "import os, time; os.setpgid(0, os.getpgid(os.getppid())); print(os.getpid(), flush=True); time.sleep(60)"
        process = self.start("-n", "1", sys.executable, "-c", program)
        pid = int(self.read_lines(process, 1)[0])
        process.terminate()
        result = self.finish(process)
        self.assert_result(result, 128 + signal.SIGTERM, err_lines=1)
        self.assertLess(result.seconds, harness.END_LIMIT)
        self.assert_all_gone([pid], 0)

    def test_user_signals(self):
        process, _ = self.start_ranks("catch=10", "catch=12")
        self.signal_and_see(process, signal.SIGUSR1)
        self.signal_and_see(process, signal.SIGUSR2)
        process.terminate()
        result = self.finish(process)
        self.assertEqual(result.out, "")

    def test_terminal_interrupt_reaches_ranks_once(self):
        # A terminal sends the signal to the whole process group of mpirun.
        process, _ = self.start_ranks("catch=2", "catch=10", start_new_session=True)
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(self.read_lines(process, 2), ["caught 02"] * 2)
        # When this later signal, of a higher number, has been passed on, mpirun has dealt with the interrupt.
        self.signal_and_see(process, signal.SIGUSR1)
        process.terminate()
        result = self.finish(process)
        self.assertEqual(result.out, "")

    def test_stop_and_continue(self):
        process, pids = self.start_ranks()
        process.send_signal(signal.SIGTSTP)

        def state(pid):
            with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
                return stat.read().rpartition(")")[2].split()[0]

        self.assertTrue(harness.wait_until(lambda: all(state(pid) == "T" for pid in pids + [process.pid])))
        process.send_signal(signal.SIGCONT)
        self.assertTrue(harness.wait_until(lambda: all(state(pid) == "S" for pid in pids + [process.pid])))
        process.terminate()
        self.finish(process)

    def test_ignored_hangup_stays_ignored(self):
        process = self.start("-n", "2", harness.RANK_PROGRAM, "catch=10", "end-at=15", f"pid={self.path('rank')}",
                             "sleep=60", "sleep=60", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_pids("rank", 2)
        process.send_signal(signal.SIGHUP)
        self.signal_and_see(process, signal.SIGUSR1)
        process.terminate()
        result = self.finish(process)
        self.assert_result(result, 0, err_lines=1)
        self.assertIn("received SIGTERM", result.err)
        self.assertNotIn("SIGHUP", result.err)

    def test_ranks_start_with_the_users_mask_and_dispositions(self):
        def signal_lines(text):
            # Signals 32 and 33 belong to the C library.
            return {line[:6]: int(line[7:], 16) & 0x7fffffff for line in text.splitlines()
                    if line.startswith(("SigBlk:", "SigIgn:", "SigCgt:"))}

        result = self.run_words("-n", "1", "cat", "/proc/self/status")
        self.assert_result(result, 0)
        alone = subprocess.run(["cat", "/proc/self/status"], stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(signal_lines(result.out), signal_lines(alone.stdout))
        self.assertEqual(len(signal_lines(result.out)), 3)


if __name__ == "__main__":
    harness.main()
