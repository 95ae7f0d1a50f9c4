#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Connections between processes of two or three mpirun of one user: what they can be used for, how they fail, and what
is left behind.
mpi_connect_test.py PREFIX MPI_CONNECT_PROGRAM
"""

import contextlib
import os
import signal
import socket
import sys
import time

import harness

# A process learns of the failure of another mpirun within this many seconds.
FAILURE_LIMIT = 15.0


def kill_all(pids):
    """At once: none of them learns of the end of another one."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        # The kernel kills a process whose parent has been killed.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Connect(harness.LaunchTest):
    def setUp(self):
        super().setUp()
        self.runtime = self.path("runtime")
        os.mkdir(self.runtime, 0o700)
        self.sockets = os.path.join(self.runtime, "patchbay-names")
        self.port = self.path("port")

    def tearDown(self):
        self.assertTrue(harness.wait_until(lambda: not os.path.exists(self.sockets)), "left in the runtime directory")
        super().tearDown()

    def begin(self, ranks, *words, options=(), **popen):
        return self.start("-n", str(ranks), *options, harness.RANK_PROGRAM, *words,
                          env={"XDG_RUNTIME_DIR": self.runtime}, **popen)

    def end(self, *jobs, out=""):
        for job in jobs:
            result = self.finish(job, 90)
            self.assert_result(result, 0)
            self.assertEqual((result.out, result.err), (out, ""))

    def await_file(self, *names):
        self.assertTrue(harness.wait_until(lambda: all(map(os.path.exists, names)), 30), f"no {names}")

    def touch(self, name):
        with open(self.path(name), "w", encoding="ascii"):
            pass

    def both(self, server_ranks, client_ranks, rounds=1, server="world", client="world", options=()):
        jobs = (self.begin(server_ranks, "open", self.port, "accept", server, str(rounds), "close", options=options),
                self.begin(client_ranks, "connect", client, self.port, str(rounds), options=options))
        self.end(*jobs)
        os.unlink(self.port)

    def test_one_and_one(self):
        self.both(1, 1, rounds=3)

    def test_two_and_three(self):
        self.both(2, 3, rounds=2)

    def test_identifiers_from_the_launcher(self):
        self.both(2, 1, options=("--mca", "cid_excid_source", "launcher"))

    def test_processes_that_were_spawned(self):
        self.both(1, 2, server="family")
        self.both(1, 1, server="family", client="family")

    def test_several_clients_of_one_job(self):
        self.end(self.begin(1, "open", self.port, "accept", "world", "2", "close"),
                 self.begin(2, "connect", "self", self.port, "1"))

    def test_clients_one_after_the_other(self):
        server = self.begin(2, "open", self.port, "accept", "world", "3", "close")
        for ranks in (1, 2, 1):
            self.end(self.begin(ranks, "connect", "world", self.port, "1"))
        self.end(server)

    def test_three_runs(self):
        # The server and its partner accept together; the third run learns of the partner from the server.
        server = self.begin(1, "open", self.port, "accept", "pair", "1", "close")
        partner = self.begin(2, "partner", self.port, "1")
        self.await_file(self.port + ".pair")
        self.end(self.begin(2, "connect", "world", self.port, "1"), server, partner)

    def test_names_of_services(self):
        options = ("--mca", "mpi_name_scope", "user")
        server = self.begin(2, "open", self.port, "publish", "ocean", "accept", "world", "1", "unpublish", "ocean",
                            "close", options=options)
        self.await_file(self.port)
        self.end(self.begin(1, "lookup", "ocean", self.path("found"), "connect", "world", self.path("found"), "1",
                            options=options), server)

    def test_join(self):
        ends = socket.socketpair()
        jobs = [self.begin(1, "join", "0", stdin=end) for end in ends]
        for end in ends:
            end.close()
        self.end(*jobs)

    def test_join_whose_other_end_is_closed(self):
        # Before it has greeted; and when it has, and knows the port.
        for greets in False, True:
            own, other = socket.socketpair()
            job = self.begin(1, "joinclass", "0", stdin=other)
            other.close()
            if greets:
                own.sendall(b"patchbay" + b"\xff" * 8)
                self.assertEqual(own.recv(8), b"patchbay")
                self.assertTrue(own.recv(100))
                time.sleep(0.5)
            own.close()
            begin = time.monotonic()
            self.end(job, out="another error\n")
            self.assertLess(time.monotonic() - begin, 20)

    def test_independent_ends(self):
        # After the disconnection the client ends long before the server, which connects to another one later.
        server = self.begin(1, "open", self.port, "accept", "world", "1", "touch", self.path("first"), "await",
                            self.path("go"), "accept", "world", "1", "close")
        self.end(self.begin(2, "connect", "world", self.port, "1"))
        self.await_file(self.path("first"))
        self.touch("go")
        self.end(self.begin(1, "connect", "world", self.port, "1"), server)

    def test_a_port_whose_run_has_ended(self):
        self.end(self.begin(1, "open", self.port))
        self.end(self.begin(1, "class", "connect", self.port, "20"), out="MPI_ERR_PORT\n")
        with open(self.port, "w", encoding="ascii") as file:
            file.write("patchbay-port:0@../../etc/passwd")
        self.end(self.begin(1, "class", "connect", self.port, "20"), out="MPI_ERR_PORT\n")

    def test_limits(self):
        server = self.begin(1, "open", self.port, "await", self.path("go"), "class", "accept", self.port, "1")
        begin = time.monotonic()
        self.end(self.begin(1, "class", "connect", self.port, "1"), out="MPI_ERR_PORT\n")
        self.assertGreater(time.monotonic() - begin, 1)
        self.touch("go")
        self.end(server, out="MPI_ERR_PORT\n")

    def test_a_limit_that_no_clock_reaches(self):
        server = self.begin(1, "open", self.port, "await", self.path("go"), "accept", "world", "1", "close")
        client = self.begin(1, "connect", "world", self.port, "1",
                            options=("--mca", "mpi_connect_timeout", "9223372036s"))
        time.sleep(1)
        self.touch("go")
        self.end(server, client)

    def test_parameters_that_differ(self):
        for name, value in (("mpi_check", "types"), ("coll", "^tuned"), ("cid", "mask")):
            with self.subTest(parameter=name):
                server = self.begin(2, "open", self.port, "class", "accept", self.port, "20", "close",
                                    options=("--mca", name, value))
                self.end(self.begin(1, "class", "connect", self.port, "20"), out="another error\n")
                self.end(server, out="another error\n" * 2)
                os.unlink(self.port)

    def test_a_run_that_does_not_answer(self):
        server = self.begin(1, "open", self.port, "await", self.path("go"))
        self.await_file(self.port)
        daemon = harness.descendants(server.pid)[1]
        os.kill(daemon, signal.SIGSTOP)
        self.end(self.begin(1, "class", "connect", self.port, "1"), out="MPI_ERR_PORT\n")
        os.kill(daemon, signal.SIGCONT)
        self.touch("go")
        self.end(server)

    def test_a_port_that_is_closed(self):
        server = self.begin(1, "open", self.port, "await", self.path("go"), "close", "await", self.path("end"))
        client = self.begin(1, "class", "connect", self.port, "60", "touch", self.path("end"))
        self.await_file(self.port)
        time.sleep(0.5)
        self.touch("go")
        self.end(client, out="MPI_ERR_PORT\n")
        self.end(server)

    def test_a_client_that_gives_up(self):
        server = self.begin(1, "open", self.port, "await", self.path("go"), "accept", "world", "1", "close")
        self.end(self.begin(1, "class", "connect", self.port, "1"), out="MPI_ERR_PORT\n")
        client = self.begin(1, "class", "connect", self.port, "60")
        time.sleep(1)
        kill_all(harness.descendants(client.pid)[1:2])  # the daemon, and with it all
        client.communicate()
        self.touch("go")
        self.end(self.begin(2, "connect", "world", self.port, "1"), server)

    def check_killed(self, victims, number):
        """One side is killed while the processes of both wait for messages."""
        sides = ("accept", "connect")
        for victim_side in (0, 1):
            port = f"{self.port}.{number}.{victim_side}"
            jobs = [self.begin(2, *(("open", port) if side == "accept" else ()), "receive", side, port)
                    for side in sides]
            self.await_file(*[f"{port}.{side}.{rank}" for side in sides for rank in (0, 1)])
            time.sleep(0.2)
            tree = harness.descendants(jobs[victim_side].pid)
            kill_all(tree if victims == "all" else [tree[victims]])
            jobs[victim_side].communicate()
            begin = time.monotonic()
            result = self.finish(jobs[1 - victim_side], 60)
            self.assertLess(time.monotonic() - begin, FAILURE_LIMIT)
            self.assertEqual((result.status, result.out), (0, "MPI_ERR_PROC_ABORTED\n" * 4), str(result))
            self.assert_all_gone(tree)

    def test_mpirun_is_killed(self):
        self.check_killed(0, "mpirun")

    def test_the_daemon_is_killed(self):
        self.check_killed(1, "daemon")

    def test_a_rank_is_killed(self):
        self.check_killed(2, "rank")

    def test_all_are_killed(self):
        self.check_killed("all", "all")
        # The files are left, and the next mpirun that looks for a name removes them.
        self.begin(1, "lookup", "nothing", self.path("nothing"), "open", self.path("another"),
                   options=("--mca", "mpi_name_scope", "user")).communicate()

    def test_errors_are_fatal(self):
        # By default a process whose partner has failed ends its own run.
        server = self.begin(1, "open", self.port, "fatal", "yes", "receive", "accept", self.port)
        client = self.begin(1, "receive", "connect", self.port)
        self.await_file(self.port + ".accept.0", self.port + ".connect.0")
        os.kill(harness.descendants(client.pid)[2], signal.SIGKILL)
        client.communicate()
        result = self.finish(server, 60)
        self.assertNotEqual(result.status, 0)
        self.assertIn("MPI_ERR_PROC_ABORTED", result.err)


if __name__ == "__main__":
    PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv[1], "lib/libmpi_abi.so.1"))))
    os.environ["LD_LIBRARY_PATH"] = os.path.join(PREFIX, "lib")
    sys.argv[1] = os.path.join(PREFIX, "bin/mpirun")
    harness.main()
