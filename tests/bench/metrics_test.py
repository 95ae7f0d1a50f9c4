# SPDX-License-Identifier: BSD-3-Clause
"""Every program of bench/ runs and prints the METRIC lines that it is documented to print, with values that can be:
metrics_test.py PREFIX. The programs are built as patchbay-ab builds them, with few rounds; no figure is judged."""
import math
import os
import subprocess
import sys
import tempfile
import unittest

PREFIX = os.path.realpath(sys.argv.pop(1))
BENCH = os.path.join(PREFIX, "share", "patchbay", "bench")

# (program, arguments, ranks): {metric: unit}
PROGRAMS = {
    ("overlap.c", "", 2): {"iallreduce_1MiB": "us", "iallreduce_1MiB_exposed": "us", "iallreduce_1MiB_last_wait": "us",
                           "iallreduce_1MiB_least_work": "us", "iallreduce_1MiB_hidable": "percent",
                           "iallreduce_1MiB_hidden": "percent"},
    ("pingpong.c", "", 2): {"half_round_trip_8B": "us", "half_round_trip_4KiB": "us", "half_round_trip_64KiB": "us",
                            "half_round_trip_1MiB": "us", "message_rate_8B": "M/s"},
    **{("channels.c", f"pingpong 8,4096,65536 {way}", 2): {
        f"half_round_trip_{size}": "us" for size in ("8B", "4KiB", "64KiB")}
       for way in ("plain", "persistent", "channel")},
    **{("channels.c", f"rate {way}", 2): {f"message_rate_slack_{slack:02}": "M/s" for slack in (1, 2, 4, 8, 16)}
       for way in ("plain", "channel")},
    ("collectives.c", "", 2): {"barrier": "us", "allreduce_8B": "us"},
    ("collective_sizes.c", "barrier,allreduce 8,4096", 2): {
        "barrier": "us", "allreduce_8B": "us", "allreduce_4KiB": "us", "most_page_faults": "pages"},
    ("communicators.c", "", 2): {"dup": "us", "dup_free": "us", "split_free": "us", "create_group_free": "us"},
    ("datatype.c", "pack column,random_lengths 1024,2097152", 1): {
        f"{operation}_{shape}_{size}": "us" for operation in ("pack", "unpack") for shape in ("column", "random_lengths")
        for size in ("1KiB", "2MiB")},
    ("datatype.c", "pingpong all 16384", 2): {
        f"pingpong_{shape}_16KiB": "us" for shape in (
            "every_other_double", "eight_doubles", "column", "half_matrix", "face_of_doubles", "face_of_rows",
            "struct_with_hole", "random_doubles", "random_fours", "random_lengths", "nested_struct")},
    ("fragmentation.c", "100", 2): {"dup": "us", "dup_fragmented": "us"},
    ("hello.c", "", 2): {"MPI_Init": "ms"},
    ("memory.c", "", 4): {"pss_init": "MB", "pss_init_most": "MB", "pss_alltoall": "MB", "pss_alltoall_most": "MB",
                          "two_alltoalls": "ms"},
    ("outstanding.c", "100", 2): {f"{kind}{what}_{count}": "us" for kind in ("idup", "iallreduce", "grequest")
                                  for what in ("", "_test") for count in (10, 100)},
    **{("persistent_collectives.c", f"{way} barrier,allreduce 8,4096", 2): {
        "barrier": "us", "allreduce_8B": "us", "allreduce_4KiB": "us"} for way in ("blocking", "persistent", "timed")},
    ("persistent_collectives.c", "ratio barrier,allreduce 8,4096", 2): {
        f"{function}_ratio": "x" for function in ("barrier", "allreduce_8B", "allreduce_4KiB")},
    ("partitioned.c", "", 2): {f"{figure}_64x{size}": unit for size in ("16KiB", "64B") for figure, unit in (
        ("message", "us"), ("partitioned", "us"), ("bandwidth_ratio", "x"))},
    ("quiescence.c", "", 2): {"compute_alone": "ms", "compute_beside_barrier": "ms", "slowdown": "percent"},
    ("session_latency.c", "", 2): {
        f"{kind}_{figure}": "x" if kind == "ratio" else unit for kind in ("world", "session", "ratio")
        for figure, unit in (("latency", "us"), ("rate", "M/s"), ("first_exchange", "us"), ("fresh_rate", "M/s"))},
    ("sessions.c", "init", 2): {"start_up": "ms", "first_barrier": "ms"},
    ("sessions.c", "session", 2): {"start_up": "ms", "first_barrier": "ms"},
    ("sessions.c", "create", 2): {"create_from_group": "us"},
    ("streams.c", "all 16384,1048576", 2): {f"{way}_{size}": "us" for size in (16384, 1048576)
                                            for way in ("pingpong", "exchange", "serial", "produced", "window")},
    **{("rma.c", f"{memory} 8,65536", 2): {
        f"{memory}_{operation}_{size}": "us" for operation, sizes in (
            *((name, ("8B", "64KiB")) for name in (
                "put_flush", "get_flush", "accumulate_flush", "shared_put", "exclusive_put", "put_fence", "put_pscw")),
            *((name, ("8B",)) for name in (
                "fetch_and_op_flush", "fence", *([
                    "compare_and_swap_flush", "single_accumulate_flush", "single_fetch_and_op_flush",
                    "single_compare_and_swap_flush"] if memory == "allocate" else []))))
        for size in sizes}
       for memory in ("allocate", "create")},
    ("rma.c", "contention", 4): {f"contended_{name}_4ranks": "us" for name in (
        "lock", "lock_longest", "fetch_and_op", "single_fetch_and_op")},
    ("rma.c", "windows", 2): {"window_allocate_4KiB": "us", "window_create_4KiB": "us",
                              "window_memory_allocate_8B": "KiB", "window_memory_create_8B": "KiB"},
    ("rma_figures.c", "synchronization", 2): {f"sync_{name}_2ranks": "us" for name in (
        "flush", "lock_shared", "lock_exclusive", "pscw", "fence")},
    ("rma_figures.c", "transfers 8,65536", 2): {
        f"{name}_{size}": "us" for size in ("8B", "64KiB") for name in (
            "put", "get", "message", "put_stream", "get_stream", "message_stream")},
    ("rma_figures.c", "epochs 8", 2): {f"puts_{count:03}_8B": "us" for count in (1, 4, 16, 64, 256)},
    **{("threadcomm.c", arguments, ranks): {
        **{f"half_round_trip_{size}": "us" for size in ("8B", "1KiB", "4KiB", "64KiB", "1MiB")},
        **{f"two_buffers_{size}": "us" for size in ("1KiB", "4KiB", "64KiB", "1MiB")},
        "barrier": "us", "allreduce_8B": "us",
        **{f"reduce_{count}": "us" for count in ("1", "1Ki", "8Ki", "64Ki")},
        **({} if arguments else {"openmp_barrier": "us", "start_and_finish": "us"}),
        **({} if arguments else {f"openmp_reduce_{count}": "us" for count in ("1", "1Ki", "8Ki", "64Ki")})}
       for arguments, ranks in (("", 1), ("processes", 2))},
    ("thread_collectives.c", "2 8,4096", 2): {"barrier": "us", **{
        f"{function}_{size}": "us" for function in ("bcast_and_barrier", "reduce_and_barrier", "allreduce")
        for size in ("8B", "4KiB")}},
    **{("spmv.c", arguments, ranks): {
        f"{what}_{edge}": "us" for edge in (8, 16, 32, 64) for what in ("product", "exchange")}
       for arguments, ranks in (("", 1), ("processes", 2))},
    ("instructions.c", "dup", 2): {},  # bench/instructions counts what it does, under valgrind
    ("cache_line.cpp", "", 0): {"cache_line_one_way": "us"},
}
OPENMP = ("spmv.c", "thread_collectives.c", "threadcomm.c")
# Or below it, where both times of a difference vary.
MAY_BE_ZERO = ("slowdown", "most_page_faults", "iallreduce_1MiB_exposed", "iallreduce_1MiB_hidable",
               "iallreduce_1MiB_hidden", "window_memory_allocate_8B", "window_memory_create_8B")


def better(metric, unit):
    return "higher" if "rate" in metric or "hid" in metric or "bandwidth" in metric or unit == "M/s" else "lower"


class Metrics(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_program(self, name, arguments, ranks):
        binary = os.path.join(self.folder.name, "program")
        compiler = os.path.join(PREFIX, "bin", "mpicxx" if name.endswith(".cpp") else "mpicc")
        options = ["-std=c++20"] if name.endswith(".cpp") else ["-fopenmp"] if name in OPENMP else []
        subprocess.run([compiler, *options, "-O1", "-Wall", "-Werror", "-DBENCH_DIVISOR=50", os.path.join(BENCH, name), "-o",
                        binary], check=True)
        launcher = [os.path.join(PREFIX, "bin", "mpirun"), "--timeout", "100", "-n", str(ranks)] if ranks else []
        return subprocess.run([*launcher, binary, *arguments.split()], check=True, stdout=subprocess.PIPE,
                              text=True).stdout

    def test_every_program_is_listed(self):
        programs = {name for name in os.listdir(BENCH) if name.endswith((".c", ".cpp"))}
        self.assertEqual(programs, {name for name, _, _ in PROGRAMS})

    def test_metrics(self):
        for (name, arguments, ranks), wanted in PROGRAMS.items():
            with self.subTest(program=name, arguments=arguments):
                text = self.run_program(name, arguments, ranks)
                lines = [line.split() for line in text.splitlines() if line.startswith("METRIC")]
                self.assertEqual([len(words) for words in lines], [5] * len(wanted), text)
                found = {metric: (unit, way) for _, metric, _, unit, way in lines}
                self.assertEqual(found, {metric: (unit, better(metric, unit)) for metric, unit in wanted.items()})
                for _, metric, value, _, _ in lines:
                    self.assertTrue(math.isfinite(float(value)), f"{metric} {value}")
                    if metric not in MAY_BE_ZERO:
                        self.assertGreater(float(value), 0, metric)


unittest.main()
