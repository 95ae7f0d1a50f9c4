#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a user reads when there is too little memory or shared memory, or no descriptor:
no_memory_test.py PREFIX NO_MEMORY_PROGRAM ACCEPTS_NONE_PROGRAM"""

import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest

PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv[1], "lib/libmpi_abi.so.1"))))
PROGRAM, ACCEPTS_NONE = map(os.path.realpath, sys.argv[2:4])
ERR_NO_MEM = 39
ERR_OTHER = 16
SMALL = 64 * 1024


def mpirun(*options, program=PROGRAM):
    return [os.path.join(PREFIX, "bin/mpirun"), "--timeout", "30", "-n", "2", *options, program]


def run(command, **more):
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(PREFIX, "lib"), HOME=os.environ.get("TEST_TMPDIR", "/tmp"))
    return subprocess.run(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=90,
                          check=False, **more)


class NoMemory(unittest.TestCase):
    def test_unexpected_messages(self):
        # Several times: whether ending the job finds memory for itself depends on what the heap looks like.
        for _ in range(15):
            done = run(mpirun("--mca", "pml_ob1_memory_wait", "50ms"))
            self.assertEqual(done.returncode, ERR_NO_MEM, done.stdout)
            self.assertIn("out of memory for an unexpected message of 4000 bytes from rank 0", done.stdout)
            self.assertIn("a lower pml_ob1_unexpected_limit makes senders wait earlier", done.stdout)

    def test_no_descriptor_for_a_connection(self):
        # Its sender waits in MPI_Ssend, and has no error.
        done = run(mpirun("--mca", "btl", "self,socket", "--mca", "btl_socket_shortage_wait", "200ms",
                          program=ACCEPTS_NONE))
        self.assertEqual(done.returncode, ERR_OTHER, done.stdout)
        self.assertIn("btl/socket: a connection of another process cannot be accepted: Too many open files; raise the "
                      "limit of open files (ulimit -n), or close descriptors", done.stdout)
        self.assertNotIn("arrived", done.stdout)

    @staticmethod
    def limit_file_sizes():
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))

    def check_limit_of_file_sizes(self, *options):
        done = run(mpirun(*options), preexec_fn=self.limit_file_sizes)
        self.assertRegex(done.stdout, r"shared memory: \S+ .*must grow to \d+\w+, but the limit of file sizes is "
                         r"64KiB; raise it \(ulimit -f\)")
        return done

    def test_limit_of_file_sizes(self):
        # A process that used sockets instead could not communicate with one that has shared memory.
        for options in ([], ["--mca", "btl", "self,sm"]):
            done = self.check_limit_of_file_sizes(*options)
            self.assertEqual(done.returncode, ERR_NO_MEM, done.stdout)
            self.assertIn("MPI_Init", done.stdout)
            self.assertIn("parameter btl=^sm leaves it out, in all processes", done.stdout)

    def test_one_process_without_shared_memory(self):
        limited = ["sh", "-c", f"ulimit -f {SMALL // 512}; exec {PROGRAM}"]
        for words in ([*limited, ":", "-n", "1", PROGRAM], [PROGRAM, ":", "-n", "1", *limited]):
            done = run([os.path.join(PREFIX, "bin/mpirun"), "--timeout", "30", "-n", "1", *words])
            self.assertEqual(done.returncode, ERR_NO_MEM, done.stdout)

    def test_sockets_without_shared_memory(self):
        done = run(mpirun("--mca", "btl", "^sm"), preexec_fn=self.limit_file_sizes)
        # Messages are sent: the program ends as it does with shared memory.
        self.assertEqual(done.returncode, ERR_NO_MEM, done.stdout)
        self.assertIn("out of memory for an unexpected message of 4000 bytes from rank 0", done.stdout)

    def test_small_file_system(self):
        with tempfile.TemporaryDirectory() as directory:
            # A mount that only this process and its children see; it goes with the last of them.
            mount = f"mount -t tmpfs -o size={SMALL} tmpfs {directory}"
            in_private = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
            allowed = run([*in_private, mount])
            if allowed.returncode != 0:
                # At the start of a line, where it is counted.
                why = allowed.stdout.strip()
                print(f"\nSKIPPED: pt2pt/no_memory: small_file_system: no mount here: {why}", flush=True)
                return
            command = " ".join(mpirun("--mca", "btl", "self,sm", "--mca", "shm_backing", "file",
                                      "--mca", "shm_directory", directory))
            done = run([*in_private, f"{mount} && {command}"])
        # Rank 1 uses up its memory meanwhile, and may end the job first.
        self.assertIn(done.returncode, (ERR_OTHER, ERR_NO_MEM), done.stdout)
        text = re.search(r"shared memory: cannot get \d+\w+ in (\S+)(?: \(deleted\))?: No space left on device; "
                         r"its file system has 64KiB, of which \w+ are free; enlarge it", done.stdout)
        self.assertIsNotNone(text, done.stdout)
        self.assertTrue(text[1].startswith(directory + "/"), text[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
