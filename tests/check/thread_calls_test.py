#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a user reads about calls of threads that must not make them, with `mpi_check threads` and without it:
thread_calls_test.py RUNTIME PROGRAM SOURCE."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

PREFIX = re.compile(r"^\[[^:\]]*:\d+\] patchbay: (.*)$")
LABEL = re.compile(r"/\* line: (\w+) \*/")

REMEDY = "Request MPI_THREAD_SERIALIZED, where one thread calls at a time, or MPI_THREAD_MULTIPLE with "
WORLD = ("the call is made by another thread than the one that called MPI_Init, but the thread level is MPI_THREAD_{}. " +
         REMEDY + "MPI_Init_thread")
SESSION = ("the call is made by another thread than the one that opened the session, whose thread level is "
           "MPI_THREAD_FUNNELED. " + REMEDY + "info key thread_level of MPI_Session_init")
REQUEST = ("the call is made by a thread that has neither called MPI_Init nor opened a session, but no thread level is "
           "above MPI_THREAD_FUNNELED. " + REMEDY + "MPI_Init_thread or info key thread_level of MPI_Session_init")
GOES_ON = (". The program goes on, because the library locks from now on; parameter mpi_thread_warning=false suppresses "
           "this text")
HALO = "on communicator halo"

# Case -> what mpi_check prints, as (function and object, label, reason), and the warning without it.
WRONG = {
    "single": ([(f"MPI_Barrier {HALO}", "barrier", WORLD.format("SINGLE"))],
               f"MPI_Barrier {HALO}: " + WORLD.format("SINGLE")),
    "funneled": ([(f"MPI_Irecv {HALO}", "irecv", WORLD.format("FUNNELED")),
                  (f"MPI_Send {HALO}", "send", WORLD.format("FUNNELED")), ("MPI_Wait", "wait", REQUEST)],
                 f"MPI_Irecv {HALO}: " + WORLD.format("FUNNELED")),
    "requests": ([("MPI_Test", "test", REQUEST)], "MPI_Test: " + REQUEST),
    "windows": ([("MPI_Win_fence on window grid", "fence", WORLD.format("SINGLE"))],
                "MPI_Win_fence on window grid: " + WORLD.format("SINGLE")),
    # The library locks already, and looks at no call without the check.
    "session_below_world": ([(f"MPI_Barrier {HALO}", "barrier", SESSION)], None),
}
RIGHT = ["serialized", "multiple", "threadcomm", "session_above_world", "session_of_thread"]


class ThreadCalls(unittest.TestCase):
    runtime = program = source = ""

    def launch(self, ranks, *arguments, parameter=None):
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "HOME": home, "LD_LIBRARY_PATH": f"{self.runtime}/lib"}
            options = ["--mca", *parameter] if parameter else []
            return subprocess.run(
                [f"{self.runtime}/bin/mpirun", "--timeout", "60", "-n", str(ranks), *options, self.program, *arguments],
                env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)

    def check(self, result, expected):
        """The lines of the library and nothing else, and an end without an error."""
        lines = [match.group(1) if match else line for line, match in
                 ((line, PREFIX.match(line)) for line in result.stderr.splitlines())]
        self.assertEqual(lines, expected, result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)

    def places(self):
        with open(self.source, encoding="utf-8") as source:
            return {label: number for number, line in enumerate(source, 1) for label in LABEL.findall(line)}

    def test_errors_with_the_check(self):
        bodies = {"barrier": "barrier", "irecv": "message_to_self", "send": "message_to_self", "wait": "message_to_self",
                  "test": "test_request", "fence": "fence"}
        lines = self.places()
        for case, (findings, _) in WRONG.items():
            with self.subTest(case=case):
                expected = [f"error: mpi_check threads: {what} at thread_calls.c:{lines[label]} in {bodies[label]}: {why}"
                            for what, label, why in findings]
                self.check(self.launch(1, case, "checked", parameter=("mpi_check", "threads")), expected)

    def test_one_warning_without_it(self):
        for case, (_, warning) in WRONG.items():
            with self.subTest(case=case):  # both processes would print the same text
                self.check(self.launch(2, case), [f"warning: {warning}{GOES_ON}"] if warning else [])

    def test_no_warning_where_it_is_switched_off(self):
        for case in WRONG:
            with self.subTest(case=case):
                self.check(self.launch(2, case, parameter=("mpi_thread_warning", "false")), [])

    def test_calls_that_are_allowed(self):
        for case in RIGHT:
            for ranks in (1, 2, 4):
                with self.subTest(case=case, ranks=ranks):
                    self.check(self.launch(ranks, case), [])
                    self.check(self.launch(ranks, case, "checked", parameter=("mpi_check", "all")), [])

    def test_fatal_error_handler_ends_the_job(self):
        result = self.launch(1, "fatal", "checked", parameter=("mpi_check", "threads"))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("MPI_Barrier: communicator halo: " + WORLD.format("SINGLE"), result.stderr)


if __name__ == "__main__":
    runtime, program, ThreadCalls.source = sys.argv[1:4]
    library = os.path.realpath(os.path.join(runtime, "lib/libmpi_abi.so.1"))
    ThreadCalls.runtime = os.path.dirname(os.path.dirname(library))
    ThreadCalls.program = os.path.realpath(program)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
