# SPDX-License-Identifier: BSD-3-Clause
"""Runs the MPI test programs of other folders with threads as their ranks."""

load("//tools/bazel:patchbay.bzl", "mpi_test")

def thread_ranks_test(name, srcs, threads = "3,1", np = [1, 2, 4], copts = [], args = [], deps = [], **kwargs):
    """A test program, unchanged, with a thread communicator as its MPI_COMM_WORLD.

    Args:
      name: of the test.
      srcs: the sources of the program.
      threads: how many threads each process has, in turn; the processes have different numbers on purpose.
      np: numbers of processes.
      copts: compiler options of the program.
      args: its arguments.
      deps: its libraries.
      **kwargs: for mpi_test.
    """
    program = "lib{}.so".format(name)
    native.cc_binary(
        name = program,
        testonly = True,
        srcs = srcs,
        copts = copts + ["-include tests/thread_ranks/world.h", "-fvisibility=default"],
        # A copy calls its own functions, such as an operator new that counts.
        linkopts = ["-Wl,-Bsymbolic-functions"],
        linkshared = True,
        deps = deps + [":world", "//include:mpi", "//tests/mpi_check"],
    )
    mpi_test(
        name = name,
        srcs = ["launcher.cpp"],
        args = [threads, "$(rootpath :{})".format(program)] + args,
        data = [":" + program],
        linkopts = ["-rdynamic", "-ldl", "-lpthread"],
        np = np,
        sanitizers = ["asan", "tsan"],
        # Threads of several processes, on two cores, beside other tests: 8 s alone under a sanitizer were 121 s there.
        timeout_seconds = 300,
        **kwargs
    )
