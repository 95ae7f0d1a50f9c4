# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts, exclusions, the comparison of LAMMPS's logs, unpacking, and the page."""
import io
import os
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

for tool in (sys.argv.pop(1), sys.argv.pop(1)):
    sys.path.insert(0, os.path.dirname(os.path.realpath(tool)))
import apt_source  # noqa: E402
import petsc  # noqa: E402
import report  # noqa: E402
import thermo  # noqa: E402
from processes import Ended  # noqa: E402
from program import Program, Test  # noqa: E402
from verdict import FAIL, PASS, SKIP  # noqa: E402

LOG = "Step Temp TotEng\n 0 3 -1.5\n 50 1.5 -1.25\nLoop time of 1 on 1 procs\n"


def temporary(test):
    folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
    test.addCleanup(folder.cleanup)
    return Path(folder.name)


class Verdicts(unittest.TestCase):
    def judge(self, **how):
        output = how.pop("output", "")
        return Test("t", [], Path("/")).verdict(Ended(**{"status": 0, "seconds": 1.0, **how}), output)

    def test_status(self):
        self.assertEqual(self.judge().status, PASS)
        failed = self.judge(status=3, output="one\nlast words\n\n")
        self.assertEqual((failed.status, failed.reason), (FAIL, "exit status 3: last words"))

    def test_time_and_processes_left(self):
        self.assertIn("time limit", self.judge(timed_out=True).reason)
        self.assertIn("2 processes", self.judge(left_behind=2).reason)
        self.assertEqual(self.judge(flooded=True).status, FAIL)

    def test_tap(self):
        ok, bad, skip = "ok a", "not ok b # differs", "ok c # SKIP wants d"
        for lines, status in (([ok], PASS), ([ok, bad], FAIL), ([skip], SKIP), ([ok, skip], PASS), ([], FAIL)):
            self.assertEqual(petsc.judge_tap(0, "\n".join(lines)).status, status, lines)
        self.assertEqual(petsc.judge_tap(0, skip).reason, "wants d")
        self.assertEqual(petsc.judge_tap(1, ok).status, FAIL)

    def test_petsc_check(self):
        good = "run successfully with 1 MPI process\nrun successfully with 2 MPI processes\n"
        self.assertEqual(petsc.judge_check(0, good).status, PASS)
        self.assertEqual(petsc.judge_check(0, good + "Possible error running\n").status, FAIL)
        self.assertEqual(petsc.judge_check(0, good.splitlines()[0]).status, FAIL)


class Exclusions(unittest.TestCase):
    def program(self, excluded):
        program = Program()
        program.excluded = excluded
        program.tests = lambda tree: [Test(name, [], Path("/")) for name in ("a -n 2", "a -n 4", "b -n 2")]
        return program.chosen_tests(None)

    def test_by_pattern(self):
        tests = self.program({"a *": "because"})
        self.assertEqual([test.excluded for test in tests], ["because", "because", ""])

    def test_an_exclusion_that_fits_nothing_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "c"):
            self.program({"c": "because"})


class Thermo(unittest.TestCase):
    def compare(self, left, right):
        folder = temporary(self)
        for name, text in (("left", left), ("right", right)):
            (folder / name).write_text(text)
        return thermo.compare(thermo.tables(folder / "left"), thermo.tables(folder / "right"), 1e-6)

    def test_equal(self):
        self.assertEqual(self.compare(LOG, LOG), "")
        self.assertEqual(self.compare(LOG, LOG.replace("-1.5", "-1.5000001")), "")
        self.assertEqual(self.compare(LOG, LOG.replace(" 50 ", "WARNING: text\n 50 ")), "")

    def test_different(self):
        self.assertIn("step 50: Temp", self.compare(LOG, LOG.replace("1.5 -1.25", "1.6 -1.25")))
        self.assertIn("Temp", self.compare(LOG, LOG.replace(" 50 1.5", " 50 nan")))
        self.assertIn("rows", self.compare(LOG, LOG.replace(" 50 1.5 -1.25\n", "")))
        self.assertIn("tables", self.compare(LOG, ""))
        self.assertIn("no thermodynamic output", self.compare("", ""))


    def test_multi_line_form(self):
        rows = "".join(
            f"---- Step {step} ----- CPU = 1.5 (sec) ---\nTotEng = {step - 1}.5 Temp = 2\nPress = -1.25\n" for step in (0, 50)
        )
        folder = temporary(self)
        (folder / "log").write_text(rows + "Loop time of 1\n" + LOG)
        found = thermo.tables(folder / "log")
        self.assertEqual(found[0], (["Step", "TotEng", "Temp", "Press"], [[0, -1.5, 2, -1.25], [50, 49.5, 2, -1.25]]))
        self.assertEqual(found[1][1], [[0, 3, -1.5], [50, 1.5, -1.25]])
        self.assertEqual([rows for _, rows in thermo.until(found, 10)], [[[0, -1.5, 2, -1.25]], [[0, 3, -1.5]]])


class Unpacking(unittest.TestCase):
    def test_part_and_renamed_functions(self):
        folder = temporary(self)
        text = b"MPI_Attr_get(a); call(MPI_Attr_get, MPI_Attr_get_all)"
        with tarfile.open(folder / "one_1.0.orig.tar.gz", "w:gz") as tar:
            for name in ("one-1.0/libs/mpi/src/a.cpp", "one-1.0/other/b.cpp"):
                member = tarfile.TarInfo(name)
                member.size = len(text)
                tar.addfile(member, io.BytesIO(text))
        names = {"src/a.cpp": {"MPI_Attr_get": "MPI_Comm_get_attr"}}
        apt_source.unpack(folder / "one_1.0.orig.tar.gz", folder / "out", "libs/mpi",
                          lambda place: apt_source.rename_functions(place, names))
        self.assertEqual(apt_source.version_of(folder / "one_1.0.orig.tar.gz", "one"), "1.0")
        self.assertEqual([path.name for path in (folder / "out").rglob("*.cpp")], ["a.cpp"])
        self.assertEqual((folder / "out/src/a.cpp").read_text(),
                         "MPI_Comm_get_attr(a); call(MPI_Comm_get_attr, MPI_Attr_get_all)")


class Reports(unittest.TestCase):
    def outcome(self):
        results = [report.Result("a", PASS, "", 1.5), report.Result("b", FAIL, "why"), report.Result("c", SKIP, "old")]
        return report.Outcome("one", "1.0", 3.0, results=results)

    def test_kept(self):
        folder = temporary(self)
        self.assertIsNone(report.load("one", folder))
        report.save(self.outcome(), folder)
        self.assertEqual(report.load("one", folder), self.outcome())

    def test_counts(self):
        self.assertEqual(report.rows([self.outcome()]), [("one", "1.0", "3", "1", "1", "1", "2")])
        broken = report.Outcome("two", "2.0", problem="make failed")
        missing = report.Outcome("three", "", problem="no network", missing=True)
        self.assertEqual(report.last_line([self.outcome(), broken, missing]), "1 passed, 2 failed, 2 skipped")

    def test_page(self):
        program = Program()
        program.name, program.about, program.tested = "one", "One: a program", "its own"
        program.renamed = {"f": {"MPI_Old": "MPI_New"}}
        text = report.page([program], [self.outcome()])
        for words in ("| one | 1.0 | 3 | 1 | 1 | 1 | 2 |", "`MPI_Old` is `MPI_New`", "- why: `b`", "- old: `c`"):
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main()
