#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What MPI_Init and MPI_Finalize cost each process: startup_cost_test.py PREFIX FOLDER_OF_BENCH. Counts of callgrind for a
singleton, in which nothing depends on time, and the libraries that the loader maps. bench/startup compares installations."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

PREFIX, BENCH = (os.path.realpath(path) for path in sys.argv[1:3])
del sys.argv[1:]
sys.path.insert(0, BENCH)
import callgrind  # noqa: E402  (found through the line above)

TABLE = f"{PREFIX}/share/patchbay/coll_tuned.json"

# Instructions of the library's own code, without those of the loader and of other libraries that it causes.
OWN_INSTRUCTIONS = 345_000

# Each library costs every process the relocation of its symbols and some pages of private memory. libpmix and libhwloc
# bring more of them.
LIBRARIES = {"libc", "libfmt", "libgcc_s", "libhwloc", "libm", "libpmix", "libstdc++"}

PROGRAM = """
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
"""


class StartupCost(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        source = f"{cls.folder.name}/init.c"
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        subprocess.run([f"{PREFIX}/bin/mpicc", "-O2", source, "-o", f"{cls.folder.name}/init"], check=True)
        cls.usual = cls.profile()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def profile(cls, **params):
        counts = f"{cls.folder.name}/counts"
        environment = {**os.environ, **{f"PATCHBAY_MCA_{name}": value for name, value in params.items()}}
        subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={counts}", f"{cls.folder.name}/init"],
                       check=True, env=environment)
        return callgrind.Profile(counts)

    def test_no_json_is_read(self):
        own_table = self.profile(coll_tuned_table=TABLE)
        self.assertTrue(own_table.calls("parse_json"), "the test does not see that a table is read")
        self.assertTrue(own_table.calls("nlohmann"))
        self.assertEqual(self.usual.calls("parse_json"), set())
        self.assertEqual(self.usual.calls("nlohmann"), set())
        print(f"instructions: {self.usual.of('')}; {own_table.of('')} with a decision table to read")

    def test_no_stream_is_made(self):
        for part in ["std::locale::locale(", "std::ios_base::Init::Init("]:
            self.assertEqual(self.usual.calls(part), set())

    def test_no_library_of_ours_executes_cpuid(self):
        # In the constructor of each library with __builtin_cpu_supports(). libgcc_s has one, too.
        executing = {file for file, function in self.usual.instructions if "__cpu_indicator_init" in function}
        self.assertEqual({file for file in executing if "/libmpi_abi.so" in file or "/mca_" in file}, set())

    def test_no_component_is_opened_before_it_is_needed(self):
        self.assertGreater(self.usual.of("/mca_coll_"), 0)
        self.assertGreater(self.profile(cid="excid").of("/mca_cid_excid"), 0, "a component that the user names is opened")
        self.assertEqual(self.usual.of("/mca_cid_", "/mca_pset_"), 0)

    def test_own_code(self):
        own = self.usual.of("/libmpi_abi.so", "/mca_")
        print(f"instructions of own code: {own}")
        self.assertGreater(own, OWN_INSTRUCTIONS / 4, "most of them are not counted")
        self.assertLess(own, OWN_INSTRUCTIONS)

    def test_libraries(self):
        tags = subprocess.run(["readelf", "--dynamic", "--wide", f"{PREFIX}/lib/libmpi_abi.so.1"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.*)\.so", tags)
        self.assertLessEqual({name for name in needed if not name.startswith("ld-linux")}, LIBRARIES)
        self.assertEqual(needed[0], "libstdc++", "half of the symbols are there")


unittest.main()
