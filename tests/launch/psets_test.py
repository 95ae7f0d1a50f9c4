#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Process sets: what --pset and the binding define, and the results of PMIx queries."""

import glob
import os
import re

import harness


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


class Psets(harness.LaunchTest):
    def names(self, ranks, *options):
        result = self.run_ranks(ranks, "init", "0/psets", "finalize", options=options)
        self.assert_result(result, 0, err_lines=0)
        number, names = re.fullmatch(r"psets (\d+): (.*)\n", result.out).groups()
        names = names.split(",") if names else []
        self.assertEqual(len(names), int(number))
        return names

    def members(self, ranks, name, *options):
        """The words of the result of a PMIx query, the same in all ranks."""
        result = self.run_ranks(ranks, "init", f"pset={name}", "finalize", options=options)
        self.assert_result(result, 0, err_lines=0)
        self.assertEqual(len(result.lines()), ranks)
        self.assertEqual(len(set(result.lines())), 1, str(result))
        return result.lines()[0].removeprefix(f"pset {name}").split()

    def test_members(self):
        options = ("--pset", "ocean=0-3,6", "--pset", "x://atmos=5,4", "--pset=land=7")
        self.assertEqual(self.members(8, "ocean", *options), ["0", "1", "2", "3", "6"])
        self.assertEqual(self.members(8, "x://atmos", *options), ["4", "5"])
        self.assertEqual(self.members(8, "land", *options), ["7"])
        self.assertEqual(self.members(8, "sea", *options), ["NOT-FOUND"])
        self.assertTrue({"ocean", "x://atmos", "land"} < set(self.names(8, *options)))

    def test_overlapping_ranges(self):
        self.assertEqual(self.members(4, "a", "--pset", "a=2,0-2,1-2"), ["0", "1", "2"])

    def test_many_sets(self):
        options = [word for i in range(100) for word in ("--pset", f"set.{i}={i % 4}")]
        self.assertTrue({f"set.{i}" for i in range(100)} < set(self.names(4, *options)))
        self.assertEqual(self.members(4, "set.99", *options), ["3"])

    def test_programs(self):
        ranks = ["-n", "1", harness.RANK_PROGRAM, "init", "psets", "pset=mpirun://app/1", "finalize"]
        result = self.run_words(*ranks, ":", "-n", "2", harness.RANK_PROGRAM, "init", "finalize")
        self.assert_result(result, 0, err_lines=0)
        self.assertIn("mpirun://app/0,mpirun://app/1", result.out)
        self.assertIn("pset mpirun://app/1 1 2\n", result.out)
        self.assertFalse([name for name in self.names(2) if name.startswith("mpirun:")])

    def test_sets_of_the_hardware(self):
        # The hardware of this machine, from the kernel.
        nodes = [name for name in os.listdir("/sys/devices/system/node") if re.fullmatch(r"node\d+", name)]
        if len(nodes) != 1:
            self.skipTest("SKIPPED: sets of the hardware: this machine has several NUMA nodes")
        for binding in ("core", "none"):
            self.assertEqual(self.members(3, f"mpix://NUMA/{nodes[0][4:]}", "--bind-to", binding), ["0", "1", "2"])

    def test_set_of_a_cache(self):
        here = os.sched_getaffinity(0)
        caches = set()
        for cpu in here:
            root = f"/sys/devices/system/cpu/cpu{cpu}/cache"
            for level in glob.glob(f"{root}/index*/level"):
                if read(level) == "3":
                    caches.add(read(os.path.join(os.path.dirname(level), "shared_cpu_list")))
        if len(caches) != 1:
            self.skipTest(f"SKIPPED: set of a cache: this machine has {len(caches)} third-level caches")
        self.assertEqual(self.members(3, "mpix://L3CACHE/0"), ["0", "1", "2"])
        self.assertIn("mpix://L3CACHE/0", self.names(3))

    def test_sets_of_cores(self):
        """As many as there are ranks, so they are not listed."""
        at = "/sys/devices/system/cpu/cpu{}/topology/{}"
        cores = len({(read(at.format(cpu, "physical_package_id")), read(at.format(cpu, "core_id")))
                     for cpu in os.sched_getaffinity(0)})
        for core in range(min(cores, 3)):
            there = [str(rank) for rank in range(3) if rank % cores == core]
            self.assertEqual(self.members(3, f"mpix://CORE/{core}", "--bind-to", "core"), there)
        if cores > 1:
            self.assertEqual(self.members(3, "mpix://CORE/0", "--bind-to", "none"), ["NOT-FOUND"])
        self.assertEqual(self.members(3, f"mpix://CORE/{cores}", "--bind-to", "core"), ["NOT-FOUND"])
        self.assertFalse([name for name in self.names(3, "--bind-to", "core") if name.startswith("mpix://CORE/")])

    def test_wrong_definitions(self):
        for words, complaint in ((("ocean",), "NAME=RANKS"),
                                 (("ocean=",), "no list of ranks"),
                                 (("ocean=0,",), "no list of ranks"),
                                 (("ocean=1-0",), "no list of ranks"),
                                 (("ocean=-1",), "no list of ranks"),
                                 (("ocean=a",), "no list of ranks"),
                                 (("ocean=99999999999",), "no list of ranks"),
                                 (("=0",), "no name"),
                                 (("a b=0",), "has a space"),
                                 (("a,b=0",), "','"),
                                 (("mpi://ocean=0",), "begins with mpi://"),
                                 (("MPI://WORLD=0",), "begins with mpi://"),
                                 (("mpix://SHARED=0",), "begins with mpix://"),
                                 (("pmix.ocean=0",), "begins with pmix"),
                                 (("n" * 512 + "=0",), "longer than 511"),
                                 (("ocean=2",), "ranks 0 to 1"),
                                 (("ocean=0-4294967294",), "ranks 0 to 1"),
                                 (("ocean=0", "ocean=0"), "defined twice")):
            options = [part for word in words for part in ("--pset", word)]
            result = self.run_words("-n", "2", *options, "true")
            self.assert_result(result, 2, err_lines=1)
            self.assertIn(complaint, result.err)
            self.assertIn("--pset", result.err)


if __name__ == "__main__":
    harness.main()
