#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one MPI test program in all its cases: mpi_test.py CASES.JSON (written by mpi_test.bzl).

case_selection.py decides which cases run, from the environment. Each case ends with a verdict of its own in the log and
in Bazel's XML report; the log of a case that fails has its output and the command with which it runs by hand.
"""
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import case_report
import case_selection

# After so many cases that hang, the others of the same program are not tried any more.
HANGS = 3
# mpirun's own limit is reached first, and mpirun prints the cause; so much later this program ends the case.
GRACE = 10
# A sanitizer makes a program several times slower, and four tests share two cores.
SANITIZER_LIMIT = 6


class Ended(Exception):
    """Bazel, or the user that started the test, ends it."""


class Launch:
    """One case as a process."""

    def __init__(self, test, case, folder):
        self._test, self._case, self._folder = test, case, folder
        # Bazel's sandbox shows each file of the tree as a link to the file's real place.
        library = os.path.realpath(os.path.join(test["runtime_static" if case.static else "runtime"],
                                                "lib/libmpi_abi.so.1"))
        self._prefix = os.path.dirname(os.path.dirname(library))
        self.settings = {"LD_LIBRARY_PATH": f"{self._prefix}/lib", **test["env"]}
        self.command = self._command()
        self.hung = False

    def _command(self):
        test, ranks = self._test, self._case.ranks
        parameters = {**test["mca"], **test["variants"][self._case.variant]}
        program = [os.path.realpath(test["program"]), *test["args"]]
        if ranks == 0:
            # A singleton has no command line for parameters.
            self.settings.update({f"PATCHBAY_MCA_{name}": value for name, value in parameters.items()})
            return program
        words = [f"{self._prefix}/bin/mpirun", "--timeout", str(test["timeout"]), "-n", str(ranks)]
        words += test["mpirun_args"]
        for name, value in parameters.items():
            words += ["--mca", name, value]
        return words + program

    def by_hand(self):
        """The command line that repeats the case."""
        settings = [f"{name}={shlex.quote(value)}" for name, value in self.settings.items()]
        return " ".join(["env", *settings, shlex.join(self.command)])

    def run(self):
        """The exit status; all output goes to the file `output`."""
        # A test has only the parameters that it names, and none of the user's configuration files.
        environment = {**os.environ, "HOME": self._folder, **self.settings}
        with open(self.output, "wb") as output:
            # A session of its own, so that the end of a hanging case reaches all its processes.
            process = subprocess.Popen(self.command, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            try:
                return process.wait(self._test["timeout"] + GRACE)
            except subprocess.TimeoutExpired:
                self.hung = True
                return process.returncode
            finally:
                end(process)

    @property
    def output(self):
        return os.path.join(self._folder, "output")


def end(process):
    """Ends what is still there of a case: first mpirun, which takes its ranks with it, then the group by force."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run_case(test, case):
    """Verdict, seconds, text, and whether the case hung."""
    folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR", "/tmp"))
    try:
        launch = Launch(test, case, folder)
        begin = time.monotonic()
        status = launch.run()
        seconds = time.monotonic() - begin
        with open(launch.output, encoding="utf-8", errors="replace") as file:
            output = file.read()
        # mpirun --timeout ends with the status of timeout(1).
        hung = launch.hung or (status == 124 and seconds >= test["timeout"])
        if launch.hung:
            why = f"still running after {seconds:.0f} s"
        elif status != test["exit_status"]:
            why = f"exit status {status}, wanted {test['exit_status']}"
        else:
            skips = case_report.SKIPPED.findall(output)
            return "skipped" if skips else "passed", seconds, "\n".join(f"SKIPPED: {skip}" for skip in skips), False
        return "failed", seconds, f"{why}: {launch.by_hand()}\n{output}", hung
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_cases(test, cases, report):
    hangs = 0
    for number, case in enumerate(cases):
        if hangs == HANGS:
            report.add(case.name, "failed", 0, f"not run: {HANGS} cases before it hung", sampled=case.sampled)
            continue
        begin = time.monotonic()
        try:
            verdict, seconds, text, hung = run_case(test, case)
        except Ended:
            report.add(case.name, "failed", time.monotonic() - begin, "ended from outside while it ran", 1, case.sampled)
            for later in cases[number + 1:]:
                report.add(later.name, "failed", 0, "not run: the test was ended", sampled=later.sampled)
            return
        report.add(case.name, verdict, seconds, text, 1, case.sampled)
        hangs += hung
        # A test that is killed leaves a report of the cases before.
        report.write()


def on_signal(number, _):
    raise Ended(signal.Signals(number).name)


def main(path):
    with open(path, encoding="utf-8") as file:
        test = json.load(file)
    wish = case_selection.Wish.of(os.environ)
    if wish.build != "plain":
        test["timeout"] *= SANITIZER_LIMIT
    cases = case_selection.select(test["label"], test, wish)
    report = case_report.Report()
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    run_cases(test, cases, report)
    report.write()
    if not cases:
        print(f"no case of {test['label']} is asked for")
    return 1 if report.failures() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
