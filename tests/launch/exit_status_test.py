#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exit status, and the one line that states the cause."""

import os
import resource
import signal
import stat

import harness


class ExitStatus(harness.LaunchTest):
    def test_success(self):
        self.assert_result(self.run_ranks(4, "init", "fence", "finalize"), 0, err_lines=0)

    def test_program_without_pmix(self):
        self.assert_result(self.run_words("-n", "3", "true"), 0, err_lines=0)

    def test_status_before_finalize_ends_all(self):
        result = self.run_ranks(3, "init", "fence", "1/exit=7", "sleep=60")
        self.assert_result(result, 7, err_lines=1)
        self.assertRegex(result.err, r"rank 1 on host \S+ exited with status 7 without having finalized; "
                                     r"ending the other 2 ranks")
        self.assertLess(result.seconds, harness.END_LIMIT)

    def test_status_of_a_plain_program_ends_all(self):
        result = self.run_words("-n", "2", "sh", "-c", "[ $PMIX_RANK = 0 ] && exit 3; sleep 60")
        self.assert_result(result, 3, err_lines=1)
        self.assertLess(result.seconds, harness.END_LIMIT)

    def test_status_after_finalize_leaves_the_others_alone(self):
        result = self.run_ranks(2, "init", "fence", "finalize", "1/exit=5", "sleep=0.5", "print=done")
        self.assert_result(result, 5, err_lines=1)
        self.assertEqual(result.out, "done\n")

    def test_first_failure_counts(self):
        result = self.run_ranks(3, "init", "finalize", "2/exit=4", "sleep=0.3", "1/exit=6")
        self.assert_result(result, 4, err_lines=1)
        self.assertIn("rank 2", result.err)

    def test_signal(self):
        for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT, signal.SIGTERM):
            with self.subTest(number=number):
                result = self.run_ranks(3, "init", "fence", f"2/signal={int(number)}", "sleep=60")
                self.assert_result(result, 128 + number, err_lines=1)
                self.assertRegex(result.err, rf"rank 2 on host \S+ was killed by {number.name} \(.*\), "
                                             r"(no )?core dumped; ending the other 2 ranks")
                self.assertLess(result.seconds, harness.END_LIMIT)

    def test_core_file_is_mentioned(self):
        if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
            self.skipTest("core files are forbidden here")
        if harness.read("/proc/sys/kernel/core_pattern").startswith(("|", "/")):
            self.skipTest("core files do not go to the working directory here")
        # AddressSanitizer would forbid core files to the process that it is in, and so to the ranks.
        no_sanitizer_limit = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":disable_coredump=0"}
        for limit, text in (0, ", no core dumped"), (1 << 26, ", core dumped"):
            def set_limit(limit=limit):
                resource.setrlimit(resource.RLIMIT_CORE, (limit, resource.getrlimit(resource.RLIMIT_CORE)[1]))
            result = self.run_ranks(1, f"signal={int(signal.SIGQUIT)}", options=("--wdir", self.directory),
                                    preexec_fn=set_limit, env=no_sanitizer_limit)
            self.assert_result(result, 128 + signal.SIGQUIT, err_lines=1)
            self.assertIn(text, result.err)

    def test_the_cause_is_reported_and_not_its_consequences(self):
        # The others lose rank 2 in a fence and exit with a status of their own, perhaps before mpirun sees its end.
        for number in (signal.SIGSEGV, signal.SIGKILL):
            for _ in range(10):
                result = self.run_ranks(3, "init", "fence", f"2/signal={int(number)}", "fence", "sleep=60")
                self.assert_result(result, 128 + number, err_lines=1)
                self.assertRegex(result.err, rf"mpirun: rank 2 on host \S+ was killed by {number.name}")

    def test_missing_finalize(self):
        result = self.run_ranks(2, "init", "fence", "0/exit=0", "sleep=60")
        self.assert_result(result, 1, err_lines=1)
        self.assertIn("rank 0", result.err)
        self.assertIn("without having finalized", result.err)
        self.assertLess(result.seconds, harness.END_LIMIT)

    def test_finalized_while_mpirun_was_stopped(self):
        # PMIx_Finalize gives up after two seconds, so that the ranks exit before mpirun has read that they finalize.
        process = self.start("-n", "2", harness.RANK_PROGRAM, "init", "fence", f"pid={self.path('rank')}", "sleep=1",
                             "finalize")
        ranks = [pid for pid, _ in self.wait_for_pids("rank", 2)]
        stopped = [pid for pid in harness.descendants(process.pid) if pid not in ranks]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            self.assertTrue(harness.wait_until(lambda: not any(map(harness.process_alive, ranks)), 20))
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
        self.assert_result(self.finish(process), 0, err_lines=0)

    def test_missing_init(self):
        for order in ("1/exit=0", "0/sleep=0.3"), ("1/sleep=0.3", "1/exit=0"):
            with self.subTest(order=order):
                result = self.run_ranks(2, *order, "init", "fence", "finalize")
                self.assert_result(result, 1, err_lines=1)
                self.assertRegex(result.err, "rank 1 .* without having initialized MPI")
                self.assertLess(result.seconds, harness.END_LIMIT)

    def test_missing_init_is_told_once(self):
        for status in (0, 4):
            with self.subTest(status=status):
                result = self.run_ranks(4, f"1/exit={status}", "0/sleep=0.3", "2/sleep=0.3", "3/sleep=0.3", "init",
                                        "finalize", options=("--enable-recovery",))
                self.assert_result(result, status or 1, err_lines=1)
                self.assertIn("rank 1", result.err)

    def test_finalize_and_init_again(self):
        self.assert_result(self.run_ranks(2, "init", "fence", *["finalize", "init"] * 3, "finalize"), 0, err_lines=0)

    def test_failure_just_before_the_others_end_well(self):
        for _ in range(10):
            result = self.run_ranks(3, "init", "fence", "1/exit=7", "finalize")
            self.assert_result(result, 7, err_lines=1)
            self.assertIn("rank 1", result.err)

    def test_second_init_without_finalize(self):
        result = self.run_ranks(1, "init", "finalize", "init", "exit=0")
        self.assert_result(result, 1, err_lines=1)

    def test_abort(self):
        result = self.run_ranks(3, "init", "fence", "1/abort=9", "sleep=60")
        self.assert_result(result, 9, err_lines=1)
        self.assertRegex(result.err, r"rank 1 on host \S+ aborted the job with status 9: as commanded")
        self.assertLess(result.seconds, harness.END_LIMIT)

    def test_abort_with_status_zero_is_no_success(self):
        for code, status in (0, 1), (256, 1), (300, 44):
            with self.subTest(code=code):
                result = self.run_ranks(2, "init", f"1/abort={code}", "sleep=60")
                self.assert_result(result, status, err_lines=1)
                self.assertRegex(result.err, rf"rank 1 on host \S+ aborted the job with status {status}: as commanded")

    def test_ranks_that_ignore_sigterm_are_gone_in_time(self):
        result = self.run_ranks(3, "ignore=15", "init", "fence", "1/abort=9", "sleep=60")
        self.assert_result(result, 9, err_lines=1)
        self.assertLess(result.seconds, harness.END_LIMIT)

    def test_not_found(self):
        result = self.run_words("-n", "2", "no-such-program")
        self.assert_result(result, 127, err_lines=1)
        self.assertIn("no-such-program", result.err)
        self.assert_result(self.run_words("-n", "2", "/no/such/program"), 127, err_lines=1)
        self.assert_result(self.run_words("-n", "1", "true", ":", "-n", "1", "./nothing"), 127, err_lines=1)

    def test_not_executable(self):
        file = self.path("data")
        with open(file, "w", encoding="ascii") as out:
            out.write("no program\n")
        self.assert_result(self.run_words("-n", "2", file), 126, err_lines=1)
        result = self.run_words("-n", "2", self.directory)
        self.assert_result(result, 126, err_lines=1)
        self.assertIn("directory", result.err)

    def test_broken_executable(self):
        file = self.path("broken")
        with open(file, "wb") as out:
            out.write(b"\x7fELF" + bytes(200))
        os.chmod(file, stat.S_IRWXU)
        self.assertEqual(self.run_words("-n", "2", file).status, 127 if os.path.exists("/bin/sh") else 126)

    def test_script_without_interpreter_line(self):
        file = self.path("script")
        with open(file, "w", encoding="ascii") as out:
            out.write("echo script $1\n")
        os.chmod(file, stat.S_IRWXU)
        result = self.run_words("-n", "2", file, "word")
        self.assert_result(result, 0, err_lines=0)
        self.assertEqual(result.out, "script word\n" * 2)

    def test_missing_interpreter(self):
        file = self.path("script")
        with open(file, "w", encoding="ascii") as out:
            out.write("#!/no/such/interpreter\n")
        os.chmod(file, stat.S_IRWXU)
        result = self.run_words("-n", "2", file)
        self.assert_result(result, 127, err_lines=1)

    def test_timeout(self):
        for words, env in (("--timeout", "0.5"), None), ((), {"MPIEXEC_TIMEOUT": "0.5"}):
            with self.subTest(words=words):
                result = self.run_ranks(2, "init", "fence", "sleep=60", options=words, env=env)
                self.assert_result(result, 124, err_lines=1)
                self.assertIn("APPLICATION TIMED OUT, TIMEOUT = 0.5s", result.err)
                self.assertLess(result.seconds, harness.END_LIMIT + 0.5)

    def test_in_time(self):
        self.assert_result(self.run_ranks(2, "init", "finalize", options=("--timeout", "30")), 0, err_lines=0)


if __name__ == "__main__":
    harness.main()
