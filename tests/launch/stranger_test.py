#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What another user of the machine can learn about a job, and that this does not suffice to connect to it.

Those that need another user are skipped where this process, being root, may not change its user.
"""

import json
import os
import re
import select
import socket
import stat
import struct
import subprocess
import sys
import time
import unittest

import harness

NOBODY = 65534
STRANGER = ""
PREFIX = ""
MPI_RANK = ""
# Directories that all users can write or list, where programs put sockets, shared memory and temporary files.
PUBLIC_DIRECTORIES = ("/tmp", "/var/tmp", "/dev/shm", "/run")
LARGEST_FILE = 1 << 20
# A process that is let in gets its answer within milliseconds.
ANSWER_LIMIT = 5


# The kinds of a connection in the first message to a PMIx 4.2 server: what a process says that it is. A client gives
# the name of a process, a tool the ids of its user, and one that has a name already gives both.
CLIENT = 0
TOOLS_WITHOUT_NAME = (1, 2, 3, 6)
TOOLS_WITH_NAME = (4, 5, 7, 8, 9)


def first_message(kind, nspace, rank):
    """What libpmix sends first, for each kind of connection, with the ids of this process's user."""
    user = struct.pack("!II", os.getuid(), os.getgid())
    name = nspace.encode() + b"\0" + struct.pack("!I", rank)
    who = name if kind == CLIENT else user + (name if kind in TOOLS_WITH_NAME else b"")
    body = b"native\0" + struct.pack("!I", len(user)) + user + bytes([kind]) + who + b"4.2.2\0v41\0\2hash\0"
    return struct.pack("=iIQ", -1, 0xffffffff, len(body)) + body


def answers(port, messages):
    """Sends each message on a connection of its own; returns what comes back: bytes, or None where nothing comes."""
    connections = [socket.create_connection(("127.0.0.1", int(port))) for _ in messages]
    for connection, message in zip(connections, messages):
        connection.sendall(message)
    time.sleep(1)
    readable = select.select(connections, [], [], 0)[0]
    received = [connection.recv(4096) if connection in readable else None for connection in connections]
    for connection in connections:
        connection.close()
    return received


def can_become_nobody():
    """Whether this process may change its user, which a sandbox can forbid even to root."""
    child = os.fork()
    if child == 0:
        try:
            become_nobody()
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def become_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST_FILE)
    except (OSError, ValueError):
        return b""


def texts_of_processes():
    """What /proc tells about all processes, as (place, text)."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("cmdline", "comm", "environ", "stat", "status", "maps", "mountinfo", "cgroup"):
            yield f"/proc/{pid}/{name}", contents(f"/proc/{pid}/{name}")
        for table in ("fd", "map_files", "task"):
            try:
                for entry in os.listdir(f"/proc/{pid}/{table}"):
                    yield f"/proc/{pid}/{table}/{entry}", os.readlink(f"/proc/{pid}/{table}/{entry}").encode()
            except OSError:
                pass
    for name in ("unix", "tcp", "tcp6", "netlink"):
        yield f"/proc/net/{name}", contents(f"/proc/net/{name}")


def texts_of_files(directories, since):
    """The names of all files that can be listed, and the contents of those that have changed since a time."""
    for top in directories:
        for directory, names, files in os.walk(top):
            for name in names + files:
                path = os.path.join(directory, name)
                yield path, path.encode()
                try:
                    status = os.lstat(path)
                except OSError:
                    continue
                if stat.S_ISREG(status.st_mode) and max(status.st_mtime, status.st_ctime) >= since:
                    yield path, contents(path)


def places_of(secrets, directories, since):
    """Where another user finds one of the texts; searched by a child process that becomes that user."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            become_nobody()
            found = [place for source in (texts_of_processes(), texts_of_files(directories, since))
                     for place, text in source if any(secret in text for secret in secrets)]
            os.write(writer, json.dumps(found).encode()[:60000])
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        found = pipe.read()
    assert os.waitpid(child, 0)[1] == 0, "the search failed"
    return json.loads(found)


class ServerTest(harness.LaunchTest):
    """A test with a job to whose PMIx server a process tries to connect."""

    def start_job(self, *options, env=None):
        """Starts two ranks that wait for a file; returns mpirun, the namespace, and the server's port."""
        job = self.start("-n", "2", *options, "--pset", "all=0,1", harness.RANK_PROGRAM, "init", "fence", "0/identity",
                         f"await={self.path('go')}", "fence", "finalize", env=env)
        line = job.stdout.readline()
        found = re.match(r"namespace (\S+) port (\d+)$", line)
        self.assertIsNotNone(found, f"{line}{job.stderr.read() if not line else ''}")
        return job, found.group(1), found.group(2)

    def let_end(self, job):
        """The job is unharmed: it ends well when it is let."""
        with open(self.path("go"), "w", encoding="ascii"):
            pass
        self.assert_result(self.finish(job), 0, err_lines=0)


class Connection(ServerTest):
    """What a program can send that does not use libpmix. A user id is only a claim, so this needs no other user."""

    def assert_no_answer(self, port, tried):
        """The answer to a process that is let in begins with PMIX_SUCCESS."""
        got = answers(port, [first_message(*one) for one in tried])
        self.assertEqual([one for one, answer in zip(tried, got) if answer], [])

    def test_every_kind_of_connection(self):
        job, _, port = self.start_job()
        guesses = ("", "guess", f"patchbay-{job.pid}", "patchbay-" + 32 * "0")
        tried = [(CLIENT, name, rank) for name in guesses for rank in (0, 1)]
        tried += [(kind, "", 0) for kind in TOOLS_WITHOUT_NAME]
        tried += [(kind, name, 0) for kind in TOOLS_WITH_NAME for name in guesses]
        self.assert_no_answer(port, tried)
        self.let_end(job)

    def test_the_namespace_does_not_let_a_tool_in(self):
        # A process with the namespace can do harm: PMIx takes the format of later messages of the job from such a connection.
        job, nspace, port = self.start_job()
        self.assert_no_answer(port, [(CLIENT, nspace, 2)] + [(kind, nspace, 0) for kind in TOOLS_WITH_NAME])
        job.kill()
        job.communicate()


class Stranger(ServerTest):
    """What another user can do, and can find. Needs root, to become another user."""

    def setUp(self):
        super().setUp()
        if not can_become_nobody():
            self.skipTest("it may not change its user")

    def connect(self, kind, port, nspace, rank="1"):
        """How another user fares who claims to be this one."""
        words = [STRANGER, kind, port, nspace, rank, str(os.getuid()), str(os.getgid())]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=ANSWER_LIMIT, check=False, env={})
        except subprocess.TimeoutExpired:
            return ["no answer"]
        return done.stdout.splitlines()

    def test_the_namespace_is_random(self):
        names = set()
        for _ in range(2):
            job, nspace, _ = self.start_job()
            self.let_end(job)
            os.remove(self.path("go"))
            self.assertRegex(nspace, r"^patchbay-[0-9a-f]{32}$")
            names.add(nspace)
        self.assertEqual(len(names), 2)

    def test_another_user_does_not_find_the_namespace(self):
        since = time.time() - 1
        for options, env in (((), {}), (("--mca", "shm_backing", "file"), {}), ((), {"PMIX_MCA_gds": "ds21"})):
            job, nspace, _ = self.start_job(*options, env=env)
            secret = nspace.removeprefix("patchbay-").encode()
            self.assertEqual(places_of([secret], PUBLIC_DIRECTORIES, since), [], options)
            with open(self.path("go"), "w", encoding="ascii"):
                pass
            result = self.finish(job)
            os.remove(self.path("go"))
            self.assertEqual(result.status, 0, str(result))
            self.assertNotIn(nspace, result.out + result.err)

    def test_another_user_does_not_find_the_namespace_of_an_mpi_job(self):
        since = time.time() - 1
        for options in ((), ("--mca", "shm_backing", "file"), ("--explain", "--mca", "verbose", "3")):
            with self.subTest(options=options):
                harness.MPIRUN, mpirun = os.path.join(PREFIX, "bin/mpirun"), harness.MPIRUN
                job = self.start("-n", "2", *options, MPI_RANK, self.path("rank"), "receive",
                                 env={"LD_LIBRARY_PATH": os.path.join(PREFIX, "lib")}, stdout=subprocess.DEVNULL)
                harness.MPIRUN = mpirun
                pids = [pid for pid, _ in self.wait_for_pids("rank", 2)]
                secret = re.search(rb"MIX_NAMESPACE=patchbay-([0-9a-f]{32})", contents(f"/proc/{pids[0]}/environ"))
                self.assertIsNotNone(secret)
                self.assertEqual(places_of([secret.group(1)], PUBLIC_DIRECTORIES, since), [])
                job.terminate()
                self.assertNotIn(secret.group(1).decode(), job.communicate()[1])
                self.assert_all_gone(pids)
                for rank in range(2):
                    os.remove(f"{self.path('rank')}.{rank}")

    def test_the_search_finds_what_is_there(self):
        since = time.time() - 1
        place = "/tmp/patchbay-stranger-test." + str(os.getpid())
        self.addCleanup(os.remove, place)
        with open(place, "w", encoding="ascii") as file:
            file.write("a secret of this test")
        with subprocess.Popen(["sh", "-c", "sleep 60; : another secret of this test"]) as shell:
            found = places_of([b"secret of this test"], PUBLIC_DIRECTORIES, since)
            shell.kill()
        self.assertIn(place, found)
        self.assertIn(f"/proc/{shell.pid}/cmdline", found)

    def test_guesses(self):
        job, _, port = self.start_job()
        for guess in (f"patchbay-{job.pid}", "patchbay-" + 32 * "0", "", "guess"):
            with self.subTest(guess=guess):
                answer = self.connect("client", port, guess)
                self.assertEqual(len(answer), 1, answer)
                self.assertNotEqual(answer, ["attached"])
        self.let_end(job)

    def test_a_tool(self):
        job, nspace, port = self.start_job()
        for name in ("some.tool", nspace):
            with self.subTest(name=name):
                answer = self.connect("tool", port, name, "0")
                self.assertEqual(len(answer), 1, answer)
                self.assertNotEqual(answer, ["attached"])
        self.let_end(job)

    def test_many_tools(self):
        # They get no answer, and the server stays what it was for the ranks.
        job, _, port = self.start_job()
        strangers = [subprocess.Popen([STRANGER, "tool", port, f"tool{i}", "0", str(os.getuid()), str(os.getgid())],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={})
                     for i in range(8)]
        time.sleep(1)
        for stranger in strangers:
            stranger.kill()
            self.assertNotIn("attached", stranger.communicate()[0])
        self.let_end(job)

    def test_only_the_namespace_protects(self):
        # PMIx does not check the user id in the request. If this test fails, the other tests show nothing.
        job, nspace, port = self.start_job()
        got = answers(port, [first_message(CLIENT, nspace, 1)])
        self.assertEqual((got[0] or b"")[:4], b"\0\0\0\0")
        self.assertEqual(self.connect("client", port, nspace), ["attached"])
        job.kill()
        job.communicate()


if __name__ == "__main__":
    STRANGER, LIBRARIES, MPI_RANK = map(os.path.abspath, sys.argv[3:6])
    PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(LIBRARIES, "lib/libmpi_abi.so.1"))))
    del sys.argv[3:6]
    harness.main()
