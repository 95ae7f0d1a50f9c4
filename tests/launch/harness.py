# SPDX-License-Identifier: BSD-3-Clause
"""Runs mpirun for the tests and looks at what it leaves behind."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MPIRUN = ""
RANK_PROGRAM = ""
# A job that is to end must be gone within this many seconds, whatever happened to it.
END_LIMIT = 2.0


class Result:
    """How one run of mpirun ended."""

    def __init__(self, status, out, err, seconds):
        self.status = status
        self.out = out
        self.err = err
        self.seconds = seconds

    def lines(self):
        """The lines of standard output in an order that does not depend on the ranks' speed."""
        return sorted(self.out.splitlines())

    def __str__(self):
        return f"status {self.status} after {self.seconds:.2f} s\n--- out\n{self.out}--- err\n{self.err}"


def process_alive(pid):
    """Whether a process exists and is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children_of(pid):
    """The processes that the process has started and that have not been waited for."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def descendants(pid):
    """The process and all that it and they have started."""
    tree = [pid]
    for parent in tree:
        tree.extend(children_of(parent))
    return tree


def wait_until(condition, seconds=END_LIMIT):
    """Waits for a condition; returns whether it became true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())


@contextlib.contextmanager
def full_pipe():
    """The writing end of a pipe that is full, and that is not read."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x")
    os.set_blocking(writing, True)
    try:
        yield writing
    finally:
        os.close(reading)
        os.close(writing)


def daemon_of(process):
    """The process of a started mpirun that starts the ranks."""
    assert wait_until(lambda: children_of(process.pid))
    return children_of(process.pid)[0]


class LaunchTest(unittest.TestCase):
    """A test of mpirun with a directory of its own and a check that nothing stays behind."""

    def setUp(self):
        self._directory = tempfile.TemporaryDirectory()
        self.directory = self._directory.name
        self.private_tmp = os.path.join(self.directory, "tmp")
        os.mkdir(self.private_tmp)
        self._shared_memory = set(os.listdir("/dev/shm"))

    def tearDown(self):
        self.assertEqual(os.listdir(self.private_tmp), [], "left in TMPDIR")
        # Other tests that run meanwhile have files there for moments.
        wait_until(lambda: not self.shared_memory_left())
        self.assertEqual(self.shared_memory_left(), set(), "left in /dev/shm")
        self._directory.cleanup()

    def shared_memory_left(self):
        return {name for name in set(os.listdir("/dev/shm")) - self._shared_memory if "patchbay" in name}

    def environment(self, extra=None):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PMIX_", "PATCHBAY_"))}
        env["TMPDIR"] = self.private_tmp
        env.pop("MPIEXEC_TIMEOUT", None)
        env.update(extra or {})
        return env

    def start(self, *words, env=None, **popen):
        """Starts mpirun; the words are its arguments."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        options.update(popen)
        process = subprocess.Popen([MPIRUN, *words], env=self.environment(env), **options)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def finish(self, process, limit=30.0, stdin=None):
        """Waits for the end of a started mpirun."""
        begin = time.monotonic()
        try:
            out, err = process.communicate(input=stdin, timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.fail(f"mpirun did not end within {limit} s\n--- out\n{out}--- err\n{err}")
        return Result(process.returncode, out, err, time.monotonic() - begin)

    def run_words(self, *words, stdin=None, limit=30.0, **options):
        if stdin is not None:
            options["stdin"] = subprocess.PIPE
        return self.finish(self.start(*words, **options), limit, stdin)

    def run_ranks(self, ranks, *commands, options=(), **more):
        """Runs the test's rank program with its commands on so many ranks."""
        return self.run_words("-n", str(ranks), *options, RANK_PROGRAM, *commands, **more)

    def assert_result(self, result, status, err_lines=None):
        """Checks the exit status, and how many lines mpirun itself wrote to standard error."""
        self.assertEqual(result.status, status, str(result))
        if err_lines is not None:
            own = [line for line in result.err.splitlines() if line.startswith("mpirun: ")]
            self.assertEqual(len(own), err_lines, str(result))

    def path(self, name):
        return os.path.join(self.directory, name)

    def wait_for_pids(self, name, ranks):
        """The numbers that each rank has written to the file NAME.RANK."""
        files = [f"{self.path(name)}.{rank}" for rank in range(ranks)]
        self.assertTrue(wait_until(lambda: all(map(filled, files)), 10), f"no {files}")
        return [[int(word) for word in read(file).split()] for file in files]

    def assert_all_gone(self, pids, limit=END_LIMIT):
        self.assertTrue(wait_until(lambda: not any(map(process_alive, pids)), limit),
                        f"still there: {[pid for pid in pids if process_alive(pid)]}")


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def filled(path):
    return os.path.exists(path) and os.path.getsize(path) > 0


def main():
    """Expects the paths of mpirun and of the rank program as the first two arguments."""
    global MPIRUN, RANK_PROGRAM
    MPIRUN = os.path.abspath(sys.argv[1])
    RANK_PROGRAM = os.path.abspath(sys.argv[2])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main(module="__main__", argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
