#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/coverage.md is up to date and a test calls every implemented function: coverage_test.py COVERAGE.PY

The first tests run the scanner on a small source tree; the last one runs it on the real tree.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()


def run(root, *options):
    return subprocess.run([sys.executable, str(SCRIPT), "--root", str(root), *options], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


class SmallTree(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.write("include/mpi.h", "int MPI_Here(int x);\nint MPI_Away(void);\n")
        self.write("include/mpix.h", "int MPIX_More(void);\n")
        self.write("mpi/api/here.cpp", "int PMPI_Here(int x) {\n}\n")
        self.write("tests/a/BUILD", 'srcs = ["a.c"]\n')
        self.write("docs/coverage.md", "")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def is_called(self, text, name="a.c"):
        """Whether a test with this text calls MPI_Here."""
        self.write("tests/a/" + name, text)
        self.write("docs/coverage.md", run(self.root).stdout)
        done = run(self.root, "--check")
        self.assertEqual(done.stderr, "" if done.returncode == 0 else "MPI_Here is implemented, but no test calls it\n")
        return done.returncode == 0

    def test_a_call_counts(self):
        self.assertTrue(self.is_called("int main() {\n    return MPI_Here (1);\n}\n"))
        self.assertTrue(self.is_called("int main() {\n    if (x) MPI_Here(1);\n}\n"))
        self.assertTrue(self.is_called("int main() {\n    const int x = MPI_Here(1);\n}\n"))

    def test_a_call_through_a_table_counts(self):
        self.assertTrue(self.is_called("int (*table[])(int) = {MPI_Here};\nint main() { return table[0](1); }\n"))
        rows = "struct Row { int (*here)(int); } rows[] = {\n    [0] = {MPI_Here},\n};\n"
        self.assertTrue(self.is_called(rows + "int main() { return rows[0].here(1); }\n"))
        self.assertFalse(self.is_called(rows + "int main() { return other[0].here(1); }\n"))

    def test_no_call_does_not_count(self):
        self.assertFalse(self.is_called("int main() {}\n"))
        self.assertFalse(self.is_called("// MPI_Here(1)\n/* and\n MPI_Here(1) */\n"))
        self.assertFalse(self.is_called('const char* names[] = {"MPI_Here", "MPI_Here(1)"};\n'))
        self.assertFalse(self.is_called("void* table[] = {MPI_Here, MPI_Away};\n"))
        self.assertFalse(self.is_called("int MPI_Here(int x) {\n}\n"))
        self.assertFalse(self.is_called("PMPI_Here(1);\nMPI_Here_c(1);\n"))

    def test_a_source_of_no_test_does_not_count(self):
        self.assertFalse(self.is_called("int main() { return MPI_Here(1); }\n", name="b.c"))

    def test_a_stale_page_fails(self):
        self.assertTrue(self.is_called("int main() { return MPI_Here(1); }\n"))
        self.write("mpi/api/away.cpp", "int PMPI_Away() {\n}\n")
        self.write("tests/a/a.c", "int main() { return MPI_Here(1) + MPI_Away(); }\n")
        done = run(self.root, "--check")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "docs/coverage.md is not up to date: run ./dev coverage\n")

    def test_page(self):
        self.write("tests/a/a.c", "int main() { return MPI_Here(1); }\n")
        lines = run(self.root).stdout.splitlines()
        self.assertIn("1 of 3 functions are implemented.", lines)
        self.assertIn("| MPI_Here | yes | a/a.c |", lines)
        self.assertIn("| MPI_Away | no | |", lines)
        self.assertIn("| MPIX_More | no | |", lines)


class RealTree(unittest.TestCase):
    def test_up_to_date(self):
        done = run(SCRIPT.parents[2], "--check")
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
