#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Standard input and output of the ranks."""

import os
import pty
import re
import resource
import signal
import subprocess
import time

import harness


class Output(harness.LaunchTest):
    def test_lines_are_never_torn(self):
        result = self.run_ranks(4, "torn=200", limit=60)
        self.assert_result(result, 0, err_lines=0)
        lines = result.out.splitlines()
        self.assertEqual(len(lines), 800)
        for line in lines:
            match = re.match(r"<(\d+):(\d+):0>", line)
            self.assertIsNotNone(match, line)
            rank, number = match.groups()
            self.assertEqual(line, "".join(f"<{rank}:{number}:{piece}>" for piece in range(8)))

    def test_full_disk_fails_the_run(self):
        with open("/dev/full", "wb") as full:
            process = self.start("-n", "1", "echo", "lost", stdout=full)
            result = self.finish(process)
        self.assertEqual(result.status, 1, result.err)
        self.assertIn("cannot write to standard output: No space left on device", result.err)

    def test_order_within_a_rank(self):
        result = self.run_ranks(2, "torn=100")
        for rank in range(2):
            numbers = [int(n) for n in re.findall(rf"^<{rank}:(\d+):0>", result.out, re.M)]
            self.assertEqual(numbers, list(range(100)))

    def test_long_lines(self):
        size = 3 << 20
        result = self.run_ranks(3, f"long={size}", limit=60)
        self.assert_result(result, 0)
        self.assertEqual(result.lines(), [letter * size for letter in "abc"])

    def test_streams_stay_apart(self):
        result = self.run_ranks(2, "print=to-out", "error=to-err")
        self.assertEqual(result.out, "to-out\n" * 2)
        self.assertEqual(result.err, "to-err\n" * 2)

    def test_both_streams_to_one_pipe_are_not_torn(self):
        result = self.run_words("-n", "3", "sh", "-c",
                                "for i in 1 2 3 4 5 6 7 8 9; do printf out; printf 'put\\n'; "
                                "printf er >&2; printf 'ror\\n' >&2; done", stderr=subprocess.STDOUT)
        self.assertEqual(result.lines(), ["error"] * 27 + ["output"] * 27)

    def test_last_line_without_newline(self):
        self.assertEqual(self.run_ranks(1, "part=abc").out, "abc")
        self.assertEqual(self.run_ranks(2, "0/part=abc", "1/print=xyz", "1/sleep=0.3").out.replace("xyz\n", ""), "abc")

    def test_prompt_of_a_single_rank_is_passed_on_at_once(self):
        process = self.start("-n", "1", harness.RANK_PROGRAM, "part=name? ", "input", stdin=subprocess.PIPE, bufsize=0,
                             text=False)
        self.assertEqual(process.stdout.read(6), b"name? ")
        out, _ = process.communicate(b"me\n", timeout=10)
        self.assertEqual(out, b"rank 0 read 3 bytes: me\n\n")

    def test_tags(self):
        result = self.run_ranks(2, "print=one", "part=two", "error=three", options=("--tag-output",))
        self.assertEqual(result.lines(), ["[0]<stdout>: one", "[0]<stdout>: two", "[1]<stdout>: one",
                                          "[1]<stdout>: two"])
        self.assertEqual(sorted(result.err.splitlines()), ["[0]<stderr>: three", "[1]<stderr>: three"])

    def test_tags_of_a_line_in_pieces(self):
        size = 20_000_000  # pieces have 16 MiB
        result = self.run_words("--tag-output", "-n", "2", "sh", "-c",
                                f"head -c {size} /dev/zero | tr '\\0' x; echo; echo y", limit=60)
        self.assert_result(result, 0)
        for rank in "01":
            tag = f"[{rank}]<stdout>: "
            lines = [line for line in result.lines() if line.startswith(tag)]
            self.assertEqual("".join(line[len(tag):] for line in lines), "x" * size + "y")
        self.assertLessEqual(len(result.lines()), 8)

    def test_output_files(self):
        prefix = self.path("out")
        result = self.run_ranks(2, "print=one", "error=two", options=("--output-filename", prefix))
        self.assert_result(result, 0)
        self.assertEqual(result.out + result.err, "")
        for rank in range(2):
            self.assertEqual(harness.read(f"{prefix}.{rank}.out"), "one\n")
            self.assertEqual(harness.read(f"{prefix}.{rank}.err"), "two\n")

    def test_output_files_of_ranks_that_have_ended_are_closed(self):
        prefix = self.path("out")
        process = self.start("--output-filename", prefix, "-n", "4", "sh", "-c",
                             'echo "$PMIX_RANK"; test "$PMIX_RANK" != 0 || sleep 3')
        daemon = harness.daemon_of(process)

        def open_files():
            places = []
            for fd in os.listdir(f"/proc/{daemon}/fd"):
                try:
                    places.append(os.readlink(f"/proc/{daemon}/fd/{fd}"))
                except FileNotFoundError:  # closed meanwhile
                    pass
            return sorted(place[len(prefix):] for place in places if place.startswith(prefix))

        self.assertTrue(harness.wait_until(lambda: open_files() == [".0.err", ".0.out"], 2.5), open_files())
        self.assert_result(self.finish(process), 0)
        self.assertEqual([harness.read(f"{prefix}.{rank}.out") for rank in range(4)], ["0\n", "1\n", "2\n", "3\n"])

    def test_output_files_that_cannot_be_written(self):
        result = self.run_ranks(2, "print=one", options=("--output-filename", "/no/such/place"))
        self.assert_result(result, 1, err_lines=1)
        self.assertIn("/no/such/place.0.out", result.err)

    def test_standard_input_goes_to_rank_0_only(self):
        result = self.run_ranks(3, "input", stdin="some words")
        self.assert_result(result, 0)
        self.assertEqual(result.lines(), ["rank 0 read 10 bytes: some words", "rank 1 read 0 bytes: ",
                                          "rank 2 read 0 bytes: "])

    def test_large_input(self):
        size = 5 << 20
        result = self.run_ranks(2, "input", stdin="z" * size)
        self.assertIn(f"rank 0 read {size} bytes", result.out)

    def test_input_that_nobody_reads_is_left_to_others(self):
        # As in `while read x; do mpirun ...; done < file`.
        file = self.path("lines")
        with open(file, "w", encoding="ascii") as out:
            out.write("first\nsecond\n")
        script = f"while read x; do echo $x; {harness.MPIRUN} -n 2 true; done < {file}"
        done = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True, timeout=20, check=True,
                              env=self.environment())
        self.assertEqual(done.stdout, "first\nsecond\n")

    def test_producer_learns_that_rank_0_is_gone(self):
        done = subprocess.run(["bash", "-c", f"set -o pipefail; yes | {harness.MPIRUN} -n 2 true"], timeout=20,
                              env=self.environment(), check=False)
        self.assertEqual(done.returncode, 141)

    def test_closed_standard_descriptors(self):
        done = subprocess.run(["sh", "-c", f"{harness.MPIRUN} -n 2 {harness.RANK_PROGRAM} init fence input finalize "
                               "<&- >&- 2>&-"], timeout=20, env=self.environment(), check=False)
        self.assertEqual(done.returncode, 0)

    def test_slow_reader(self):
        process = self.start("-n", "2", harness.RANK_PROGRAM, "long=4000000", "torn=50")
        time.sleep(0.5)
        result = self.finish(process)
        self.assert_result(result, 0)
        self.assertEqual(len(result.out.splitlines()), 102)

    def test_full_disk(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            result = self.run_words("-n", "3", "sh", "-c", "for i in 1 2 3; do echo $i; sleep 0.1; done; echo finished >&2",
                                    stdout=full)
        self.assertEqual(result.err.count("cannot write to standard output: No space left on device"), 1)
        self.assertEqual(result.err.count("finished"), 3, result.err)
        self.assertEqual(result.status, 1)

    def test_largest_file(self):
        with open(self.path("largest"), "wb") as file:
            result = self.finish(self.start(
                "-n", "2", "sh", "-c", "head -c 100000 /dev/zero; echo finished >&2", stdout=file,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))))
        self.assertEqual(result.err.count("cannot write to standard output: File too large"), 1)
        self.assertEqual(result.err.count("finished"), 2, result.err)
        self.assertEqual(result.status, 1)

    def test_terminal_that_nobody_reads(self):
        # A write to it blocks although poll(2) reports the terminal as writable. mpirun serves everything else meanwhile.
        master, slave = pty.openpty()
        process = self.start("--timeout", "1", "-n", "2", "sh", "-c", "yes | head -c 3000000", stdout=slave, stderr=slave)
        os.close(slave)
        daemon = harness.daemon_of(process)
        self.assertTrue(harness.wait_until(lambda: harness.children_of(daemon), 5), "no rank")
        self.assertTrue(harness.wait_until(lambda: not harness.children_of(daemon), 8), "the ranks were not ended")
        process.terminate()
        self.assertTrue(harness.wait_until(lambda: process.poll() is not None, 5), "mpirun did not end")
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        os.close(master)

    def test_time_limit_is_that_of_the_ranks(self):
        # They have ended in good order; only the reader is waited for.
        process = self.start("--timeout", "1", "-n", "1", "head", "-c", "200000", "/dev/zero")
        time.sleep(2)
        result = self.finish(process)
        self.assert_result(result, 0, err_lines=0)
        self.assertEqual(len(result.out), 200000)

    def test_pipe_that_nobody_reads(self):
        # Only the reader is waited for, and mpirun is killed: its daemon gives up.
        process = self.start("-n", "2", "sh", "-c", "sleep 0.3; head -c 200000 /dev/zero", text=False)
        daemon = harness.daemon_of(process)
        self.assertTrue(harness.wait_until(lambda: harness.children_of(daemon), 5), "no rank")
        self.assertTrue(harness.wait_until(lambda: not harness.children_of(daemon), 8), "the ranks have not ended")
        process.kill()
        self.assert_all_gone([daemon], 8)
        process.communicate()

    def test_terminal_input(self):
        master, slave = pty.openpty()
        process = self.start("-n", "2", harness.RANK_PROGRAM, "input", stdin=slave)
        os.close(slave)
        os.write(master, b"typed\n\x04")
        result = self.finish(process)
        os.close(master)
        self.assert_result(result, 0)
        self.assertIn("rank 0 read 6 bytes: typed", result.out)
        self.assertIn("rank 1 read 0 bytes", result.out)

    def test_terminal_input_of_a_background_job(self):
        # The shell sends no SIGCONT when it moves a running job to the foreground.
        script = f"{harness.MPIRUN} -n 1 {harness.RANK_PROGRAM} input & sleep 0.5; fg"
        child, master = pty.fork()
        if child == 0:
            os.execvpe("bash", ["bash", "-mc", script], self.environment())
        os.set_blocking(master, False)
        said = b""
        deadline = time.monotonic() + 20
        typed = ended = False
        while not ended and time.monotonic() < deadline:
            try:
                said += os.read(master, 65536)
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:  # the terminal has no process any more
                ended = True
            if not typed and harness.RANK_PROGRAM.encode() in said:  # fg tells the command
                os.write(master, b"typed\n\x04")
                typed = True
        if not ended:
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(master)
        self.assertIn(b"rank 0 read 6 bytes: typed", said)


if __name__ == "__main__":
    harness.main()
