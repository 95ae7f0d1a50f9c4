#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names of services that are known to all mpirun of one user: who finds them, who cannot, and what is left behind.
mpi_names_test.py PREFIX MPI_NAMES_PROGRAM
"""

import os
import signal
import socket
import struct
import sys
import time

import harness

NOBODY = 65534
# A lookup does not wait longer than a second for a mpirun that does not answer.
LOOKUP_LIMIT = 8.0
CLAIMS = 4


def can_become_nobody():
    """Whether this process may change its user, which a sandbox can forbid even to root."""
    return as_nobody(lambda: b"yes") == b"yes"


def as_nobody(action):
    """What an action answers that another user carries out; None: it fails."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            os.write(writer, action())
            os._exit(0)
        except OSError:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    return text if os.waitpid(child, 0)[1] == 0 else None


def ask(path, name):
    """Asks a mpirun at its socket for the value of a service; what comes back until it closes or is silent."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(2)
        connection.connect(path)
        question = b"L" + bytes(8) + b"patchbay.service." + name
        try:
            connection.sendall(struct.pack("=I", len(question)) + question)
            return connection.recv(4096)
        except (BrokenPipeError, ConnectionResetError):
            return b""


class Names(harness.LaunchTest):
    def setUp(self):
        super().setUp()
        self.runtime = self.path("runtime")
        os.mkdir(self.runtime, 0o700)
        self.sockets = os.path.join(self.runtime, "patchbay-names")

    def begin(self, *words, options=("--mca", "mpi_name_scope", "user"), **popen):
        return self.start("-n", "1", *options, harness.RANK_PROGRAM, *words,
                          env={"XDG_RUNTIME_DIR": self.runtime}, **popen)

    def results(self, *words, **more):
        """The lines that a job prints with which all is well."""
        result = self.finish(self.begin(*words, **more))
        self.assert_result(result, 0)
        return result.out.split()

    def publish(self, name, value, *more):
        """A job that publishes a name and ends when it is let."""
        self.forget("ready", "go")
        job = self.begin("publish", name, value, "touch", self.path("ready"), "await", self.path("go"), *more)
        self.assertTrue(harness.wait_until(lambda: os.path.exists(self.path("ready")), 10))
        return job

    def forget(self, *names):
        for name in names:
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))

    def let_end(self, job):
        with open(self.path("go"), "w", encoding="ascii"):
            pass
        result = self.finish(job)
        self.assert_result(result, 0, err_lines=0)
        return result.out.split()

    def socket_files(self):
        return os.listdir(self.sockets) if os.path.exists(self.sockets) else []

    def daemon(self, job):
        """The node daemon of a mpirun."""
        return harness.descendants(job.pid)[1]

    def test_another_mpirun_finds_a_name(self):
        job = self.publish("ocean", "a:value")
        self.assertEqual(os.stat(self.sockets).st_mode & 0o777, 0o700)
        self.assertEqual(self.results("lookup", "ocean", "lookup", "atmosphere"), ["a:value", "MPI_ERR_NAME"])
        self.assertEqual(self.let_end(job), ["done"])
        self.assertEqual(self.results("lookup", "ocean"), ["MPI_ERR_NAME"])
        self.assertFalse(os.path.exists(self.sockets))

    def test_only_names_of_this_scope(self):
        job = self.publish("wide", "w", "scope", "mpirun", "publish", "narrow", "n", "lookup", "narrow")
        self.assertEqual(self.results("lookup", "narrow"), ["MPI_ERR_NAME"])
        self.assertEqual(self.results("lookup", "wide", options=()), ["MPI_ERR_NAME"])
        self.assertEqual(self.results("scope", "user", "lookup", "wide", options=()), ["w"])
        self.assertEqual(self.results("scope", "all", "lookup", "wide"), ["MPI_ERR_INFO_VALUE"])
        self.assertEqual(self.let_end(job), ["done", "done", "n"])

    def test_no_socket_without_such_a_name(self):
        self.assertEqual(self.results("publish", "x", "y", "lookup", "x", "scope", "user", "lookup", "z", options=()),
                         ["done", "y", "MPI_ERR_NAME"])
        self.assertEqual(os.listdir(self.runtime), [])

    def test_a_name_is_in_use(self):
        job = self.publish("one", "1", "unpublish", "one", "touch", self.path("withdrawn"), "await", self.path("end"))
        self.assertEqual(self.results("publish", "one", "2", "unpublish", "one"), ["MPI_ERR_SERVICE"] * 2)
        # A process of the other mpirun may have it for itself.
        self.assertEqual(self.results("scope", "mpirun", "publish", "one", "3", "lookup", "one"), ["done", "3"])
        with open(self.path("go"), "w", encoding="ascii"):
            pass
        self.assertTrue(harness.wait_until(lambda: os.path.exists(self.path("withdrawn")), 10))
        self.assertEqual(self.results("lookup", "one", "publish", "one", "2", "lookup", "one"),
                         ["MPI_ERR_NAME", "done", "2"])
        with open(self.path("end"), "w", encoding="ascii"):
            pass
        self.assertEqual(self.finish(job).out.split(), ["done", "done"])

    def test_one_of_several_claims_succeeds(self):
        for number in range(3):
            go, end = self.path(f"go{number}"), self.path(f"end{number}")
            jobs = [self.begin("touch", self.path(f"ready{number}.{i}"), "await", go, "publish", "same", str(i),
                               "touch", self.path(f"claimed{number}.{i}"), "await", end) for i in range(CLAIMS)]
            for reached, file in (("ready", go), ("claimed", end)):
                names = [self.path(f"{reached}{number}.{i}") for i in range(CLAIMS)]
                self.assertTrue(harness.wait_until(lambda: all(map(os.path.exists, names)), 20))
                with open(file, "w", encoding="ascii"):
                    pass
            out = [self.finish(job).out.strip() for job in jobs]
            self.assertEqual(sorted(out), ["MPI_ERR_SERVICE"] * (CLAIMS - 1) + ["done"])

    def test_whoever_is_killed(self):
        for victims in (("mpirun",), ("daemon",), ("rank",)):
            with self.subTest(killed=victims):
                job = self.publish("ocean", "value")
                tree = harness.descendants(job.pid)
                os.kill(tree[("mpirun", "daemon", "rank").index(victims[0])], signal.SIGKILL)
                job.communicate()
                self.assert_all_gone(tree)
                self.assertTrue(harness.wait_until(lambda: not os.path.exists(self.sockets)))

    def test_all_are_killed(self):
        # The file is left, and the next one that asks removes it.
        job = self.publish("ocean", "value")
        tree = harness.descendants(job.pid)
        for pid in tree[:2]:
            os.kill(pid, signal.SIGSTOP)
        for pid in tree[:2]:
            os.kill(pid, signal.SIGKILL)
        job.communicate()
        self.assert_all_gone(tree)
        self.assertEqual(len(self.socket_files()), 1)
        self.assertEqual(self.results("lookup", "ocean", "publish", "ocean", "again", "lookup", "ocean"),
                         ["MPI_ERR_NAME", "done", "again"])
        self.assertFalse(os.path.exists(self.sockets))

    def test_a_mpirun_that_does_not_answer(self):
        job = self.publish("ocean", "value")
        os.kill(self.daemon(job), signal.SIGSTOP)
        begin = time.monotonic()
        self.assertEqual(self.results("lookup", "ocean"), ["MPI_ERR_NAME"])
        self.assertLess(time.monotonic() - begin, LOOKUP_LIMIT)
        os.kill(self.daemon(job), signal.SIGCONT)
        self.assertEqual(self.results("lookup", "ocean"), ["value"])
        self.let_end(job)

    def test_what_is_no_question(self):
        job = self.publish("ocean", "value")
        path = os.path.join(self.sockets, self.socket_files()[0])
        for text in (b"\xff" * 8, struct.pack("=I", 3) + b"abc", struct.pack("=I", 20) + b"Z" * 20, b"\1"):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(path)
                connection.sendall(text)
        self.assertEqual(self.results("lookup", "ocean"), ["value"])
        self.let_end(job)

    def test_a_directory_that_others_may_enter(self):
        os.mkdir(self.sockets)
        os.chmod(self.sockets, 0o755)
        result = self.finish(self.begin("publish", "x", "y", "lookup", "x"))
        self.assertEqual(result.out.splitlines(), ["another error", "MPI_ERR_NAME"])
        self.assertIn(self.sockets, result.err)
        os.rmdir(self.sockets)
        os.symlink(self.path("tmp"), self.sockets)
        self.assertEqual(self.finish(self.begin("publish", "x", "y")).out.splitlines(), ["another error"])
        os.unlink(self.sockets)

    def test_a_message_that_is_not_read(self):
        os.mkdir(self.sockets)
        os.chmod(self.sockets, 0o755)
        with harness.full_pipe() as full:
            job = self.begin("publish", "x", "y", "await", self.path("never"), stderr=full,
                             options=("--timeout", "2", "--mca", "mpi_name_scope", "user"))
            daemon = harness.daemon_of(job)
            self.assertTrue(harness.wait_until(lambda: harness.children_of(daemon)), "no rank")
            self.assertTrue(harness.wait_until(lambda: not harness.children_of(daemon), 8),  # it has waited for them
                            "the time limit has not ended the ranks")
            job.terminate()
            self.assertTrue(harness.wait_until(lambda: job.poll() is not None, 8), "mpirun has not ended")
            job.communicate()
        os.rmdir(self.sockets)

    def test_the_directory_of_a_run_that_was_killed(self):
        job = self.publish("ocean", "value")
        pids = [job.pid, self.daemon(job)]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        job.communicate()
        self.assertEqual(self.results("lookup", "ocean"), ["MPI_ERR_NAME"])
        self.assertFalse(os.path.exists(self.sockets))

    def test_another_user(self):
        if not can_become_nobody():
            self.skipTest("it may not change its user")
        job = self.publish("ocean", "value")
        path = os.path.join(self.sockets, self.socket_files()[0])
        self.assertIsNone(as_nobody(lambda: ask(path, b"ocean")))
        self.assertIn(b"value", ask(path, b"ocean"))
        # Also where the directory lets the user in.
        directory = path
        while directory != "/tmp" and directory != "/":
            os.chmod(directory, 0o777)
            directory = os.path.dirname(directory)
        self.assertIn(b"value", ask(path, b"ocean"))
        self.assertEqual(as_nobody(lambda: ask(path, b"ocean")), b"")
        self.let_end(job)

    def test_without_a_runtime_directory(self):
        name = f"name of process {os.getpid()}"
        self.runtime = ""
        self.sockets = f"/tmp/patchbay-names-{os.getuid()}"
        job = self.publish(name, "value")
        self.assertEqual(os.stat(self.sockets).st_mode & 0o777, 0o700)
        self.assertEqual(self.results("lookup", name), ["value"])
        self.let_end(job)
        self.assertEqual(self.results("lookup", name), ["MPI_ERR_NAME"])


if __name__ == "__main__":
    PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv[1], "lib/libmpi_abi.so.1"))))
    os.environ["LD_LIBRARY_PATH"] = os.path.join(PREFIX, "lib")
    sys.argv[1] = os.path.join(PREFIX, "bin/mpirun")
    harness.main()
