# SPDX-License-Identifier: BSD-3-Clause
"""Test lists, exclusions, verdicts with their reasons, and the table."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = os.path.realpath(sys.argv.pop(1))
sys.path.insert(0, os.path.dirname(TOOL))
import apt_source  # noqa: E402
import build_tree  # noqa: E402
import record  # noqa: E402
import sanitizer  # noqa: E402
import test_list  # noqa: E402
import verdict  # noqa: E402
from processes import Ended  # noqa: E402


def temporary(test):
    folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
    test.addCleanup(folder.cleanup)
    return Path(folder.name)


class Lists(unittest.TestCase):
    def setUp(self):
        self.root = temporary(self)
        for path, text in {
            "build/testlist": "a\n# c\nb\nimpls\n",
            "source/a/testlist": "one # by default on two ranks\ntwo 4 arg=-x arg=3 env=K=V=W timeLimit=30 mem=1.5\n\n",
            "source/b/testlist": "!../util:helper\nsub\nb1 1 resultTest=TestStatus\nsub/s1 3\nbad 2 xfail=ticket1\n",
            "source/b/sub/testlist": "s2 2 mpiexecarg=-wide\n",
        }.items():
            path = self.root / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.lists = test_list.Lists(self.root / "build", self.root / "source")

    def names(self, *wanted):
        return [test.name for test in test_list.select(self.lists, wanted) if isinstance(test, test_list.Test)]

    def test_folders_are_those_of_the_configured_list(self):
        self.assertEqual(self.lists.folders(), ["a", "b"])

    def test_lines(self):
        one, two = self.lists.tests("a")
        self.assertEqual((one.name, one.ranks), ("a/one -n 2", 2))
        self.assertEqual(two.name, "a/two -n 4 -x 3 K=V=W")
        self.assertEqual((two.limit, two.gigabytes, two.environment), (30, 1.5, {"K": "V=W"}))

    def test_folders_below(self):
        self.assertEqual(self.names("b"), ["b/sub/s2 -n 2", "b/b1 -n 1", "b/sub/s1 -n 3", "b/bad -n 2"])
        self.assertEqual(self.names("b/sub"), ["b/sub/s2 -n 2", "b/sub/s1 -n 3"])
        self.assertEqual(self.names("b/sub/s1", "b/sub", "a/one"), ["b/sub/s1 -n 3", "b/sub/s2 -n 2", "a/one -n 2"])
        self.assertIn(test_list.Prerequisite("b/../util", "helper"), test_list.select(self.lists, ["b/b1"]))

    def test_unknown_names_are_errors(self):
        for name in ("c", "a/three", "b/su", "b/sub/s"):
            with self.assertRaisesRegex(ValueError, name):
                test_list.select(self.lists, [name])

    def test_what_the_suite_itself_would_not_run_here(self):
        skips = {test.program: test.skip for test in test_list.select(self.lists, ["b"])[1:]}
        self.assertIn("ticket1", skips["bad"])
        self.assertIn("-wide", skips["s2"])
        self.assertEqual(skips["b1"], "")

    def test_exclusions(self):
        file = self.root / "exclusions"
        file.write_text("# a comment\na/t*   too new\n\nb/gone gone\nz/other z\n")
        tests = self.lists.tests("a") + self.lists.tests("b")[1:]
        unused = test_list.exclude(tests, test_list.read_patterns(file))
        self.assertEqual({test.program: test.skip for test in tests if test.top == "a"}, {"one": "", "two": "too new"})
        self.assertEqual(unused, ["b/gone"])

    def test_exclusion_without_reason_is_an_error(self):
        file = self.root / "exclusions"
        file.write_text("a/one\n")
        with self.assertRaisesRegex(ValueError, "no reason"):
            test_list.read_patterns(file)

    def test_subset(self):
        tests = self.lists.tests("a")
        self.assertEqual([test.program for test in test_list.pick(tests, ["a/two -n 4 -x 3 K=V=W"])], ["two"])
        with self.assertRaisesRegex(ValueError, "a/two -n 5"):
            test_list.pick(tests, ["a/one -n 2", "a/two -n 5"])


class OwnFiles(unittest.TestCase):
    """The files that stand beside the tool."""

    def test_exclusions_have_reasons(self):
        self.assertTrue(test_list.read_patterns(Path(TOOL).with_name("exclusions.txt")))

    def test_subset_covers_every_implemented_folder(self):
        names = test_list.read_subset(Path(TOOL).with_name("subset.txt"))
        self.assertEqual(len(names), len(set(names)))
        folders = {name.split("/")[0] for name in names}
        implemented = "attr coll comm datatype errhan errors group info init pt2pt threads"
        self.assertLessEqual(set(implemented.split()), folders)


def judged(output, status=0, rule="", used=(), limit=120, own_limit=0, **how):
    test = test_list.Test("f", "p", verdict=rule, limit=own_limit)
    result = verdict.judge(test, Ended(status, how.pop("seconds", 1.0), **how), output, limit, used)
    return result.status, result.reason


MISSING = "[1] MPI_Win_create: this build does not implement the function [MPI_ERR_UNSUPPORTED_OPERATION]\n"


class Verdicts(unittest.TestCase):
    def test_pass(self):
        self.assertEqual(judged(" No Errors\n"), ("pass", ""))
        self.assertEqual(judged("No errors\nTest Passed\n\n"), ("pass", ""))

    def test_wrong_results(self):
        for output, status, reason in (
            ("got 3, wanted 4\n Found 1 errors\n", 1, "exit status 1: got 3, wanted 4"),
            (" No Errors\nstray\n", 0, "unexpected output: stray"),
            (" No Errors\n", 2, "exit status 2 after 'No Errors': no output"),
            ("", 0, "no line 'No Errors': no output"),
            ("", 139, "exit status 139 (SIGSEGV): no output"),
        ):
            self.assertEqual(judged(output, status), ("fail", reason))

    def test_not_implemented_by_the_librarys_words(self):
        status, reason = judged(MISSING + MISSING, 1, used={"MPI_Put", "MPI_Win_create"})
        self.assertEqual(status, "fail")
        self.assertEqual(reason, "not implemented: MPI_Win_create")
        self.assertTrue(verdict.is_not_implemented(reason))

    def test_not_implemented_by_the_symbols(self):
        status, reason = judged("wrong\n", 1, used={"MPI_Put", "MPI_Get"})
        self.assertEqual(status, "fail")
        self.assertEqual(reason, "not implemented (by its symbols): MPI_Get, MPI_Put (exit status 1: wrong)")
        self.assertTrue(verdict.is_not_implemented(reason))

    def test_symbols_alone_fail_nothing(self):
        self.assertEqual(judged(" No Errors\n", used={"MPI_Put"}), ("pass", ""))

    def test_wrong_result_is_not_taken_for_not_implemented(self):
        self.assertFalse(verdict.is_not_implemented(judged("MPI_Send: truncated\n", 1)[1]))

    def test_time_limits(self):
        self.assertEqual(judged("", 143, timed_out=True), ("fail", "time limit: 120 s"))
        self.assertEqual(judged(" No Errors\n", 124, seconds=121), ("fail", "time limit: 120 s"))
        self.assertEqual(judged("x\n", 124, seconds=2), ("fail", "exit status 124: x"))

    def test_a_test_of_the_launchers_limit(self):
        self.assertEqual(judged("", 124, "TestErrFatal", limit=10, own_limit=10, seconds=10.2), ("pass", ""))
        self.assertEqual(
            judged("", 143, "TestErrFatal", limit=10, own_limit=10, timed_out=True), ("fail", "time limit: 10 s")
        )
        self.assertEqual(judged("", 124, "TestErrFatal", seconds=121), ("fail", "time limit: 120 s"))

    def test_rules_that_want_a_failing_program(self):
        for rule in ("TestStatus", "TestErrFatal"):
            self.assertEqual(judged("anything\n", 1, rule), ("pass", ""))
            self.assertEqual(judged(" No Errors\n", 0, rule)[0], "fail")
            self.assertTrue(verdict.is_not_implemented(judged(MISSING, 1, rule)[1]))
        self.assertEqual(judged(" No Errors\n", 1, "TestStatusNoErrors"), ("pass", ""))
        self.assertEqual(judged(" No Errors\n", 0, "TestStatusNoErrors")[0], "fail")
        self.assertEqual(judged("x\n", 1, "TestStatusNoErrors"), ("fail", "no line 'No Errors': x"))
        self.assertEqual(judged(" No Errors\n", 0, "TestNew"), ("fail", "unknown rule TestNew"))

    def test_other_outcomes(self):
        self.assertEqual(judged("Test Skipped\n"), ("skip", "the program skips itself"))
        self.assertEqual(judged(" No Errors\n", left_behind=2)[0], "fail")
        self.assertEqual(judged(" No Errors\n", flooded=True), ("fail", "too much output"))

    def test_build_problems(self):
        log = "make: x\n/far/away/p.c:7:3: error: 'MPI_LB' undeclared\nmake: *** [p.o] Error 1\n"
        self.assertEqual(verdict.build_problem(log), "p.c:7:3: error: 'MPI_LB' undeclared")
        self.assertEqual(verdict.build_problem(""), "no message")


USE_AFTER_FREE = """=================================================================
==19260==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000030 at pc 0x557d598ff218
READ of size 1 at 0x602000000030 thread T0
#0|/lib/libasan.so.8|__interceptor_memcpy|asan.cpp:69
#1|{module}|patchbay::copy(void*, int)|/proc/self/cwd/object/copy.cpp:12
#2|/p/lib/libmpi_abi.so.1.0|PMPI_Pack|mpi/api/pack.cpp:3
#3|/suite/a|main|a.c:5

freed by thread T0 here:
#0|/lib/libasan.so.8|__interceptor_free|asan.cpp:52
#1|/p/lib/libmpi_abi.so.1.0|patchbay::other()|object/other.cpp:1
"""
LEAKS = """==7==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 70 byte(s) in 2 object(s) allocated from:
#0|/lib/libasan.so.8|operator new(unsigned long)|asan.cpp:69
#1|/lib/libstdc++.so.6|std::string::_M_create()|<null>
#2|<unknown module>|<unknown function>|<null>
#3|{module}|patchbay::keep()|mpi/keep.cpp:8
#4|{module}|{function}|mpi/api/keep.cpp:3
#5|/suite/a|main|a.c:5

Indirect leak of 7 byte(s) in 1 object(s) allocated from:
#0|/lib/libasan.so.8|__interceptor_malloc|asan.cpp:69
#1|/p/lib/libmpi_abi.so.1.0|patchbay::keep()|mpi/keep.cpp:9
"""


class Sanitizer(unittest.TestCase):
    def found(self, *texts, has_unfreed=False):
        return sanitizer.findings(texts, Path("/p"), has_unfreed)

    def test_error_of_the_library(self):
        self.assertEqual(
            self.found(USE_AFTER_FREE.format(module="/p/lib/component.so")),
            ["heap-use-after-free in patchbay::copy(void*, int) (object/copy.cpp:12), in MPI_Pack"],
        )

    def test_error_of_the_program(self):
        text = USE_AFTER_FREE.format(module="/suite/a").replace("/p/lib/libmpi_abi.so.1.0|PMPI_Pack", "/suite/a|f")
        (line,) = self.found(text)
        self.assertIn("heap-use-after-free in the program, not in the library: patchbay::copy", line)

    def test_undefined_behaviour(self):
        stack = "#0|/p/lib/libmpi_abi.so.1.0|PMPI_Pack|mpi/api/pack.cpp:3\n\n"
        text = f"object/copy.cpp:12:5: runtime error: shift exponent 64 is too large\n{stack}"
        self.assertEqual(
            self.found(text, text),
            ["undefined behaviour at object/copy.cpp:12:5: shift exponent 64 is too large, in MPI_Pack"],
        )

    def test_leaks(self):
        leak = LEAKS.format(module="/p/lib/libmpi_abi.so.1.0", function="PMPI_Barrier")
        self.assertEqual(
            self.found(leak, leak), ["leak of 70 bytes from patchbay::keep() (mpi/keep.cpp:8), in MPI_Barrier"]
        )
        self.assertEqual(len(self.found(leak, has_unfreed=True)), 1)
        self.assertEqual(self.found(LEAKS.format(module="/lib/libpmix.so.2", function="PMPI_Barrier")), [])
        self.assertEqual(self.found(""), [])

    def test_leaks_of_the_program(self):
        of_init = LEAKS.format(module="/p/lib/libmpi_abi.so.1.0", function="PMPI_Init")
        for leak, is_object in (
            (LEAKS.format(module="/p/lib/libmpi_abi.so.1.0", function="PMPI_Type_vector"), True),
            (of_init.replace("patchbay::keep()", "patchbay::Group::range(patchbay::ProcessId)"), True),
            (of_init, False),
        ):
            self.assertEqual(len(self.found(leak)), 1)
            self.assertEqual(len(self.found(leak, has_unfreed=True)), 0 if is_object else 1)

    def test_the_librarys_words_are_no_output_of_the_program(self):
        words = (
            "[vm:0] patchbay: warning: mpi_check leaks: the program has not freed 2 objects:\n"
            "[vm:0] patchbay: warning:   1 group of MPI_Comm_group at main+0x7c in a: free each with MPI_Group_free\n"
        )
        self.assertEqual(sanitizer.without_unfreed(words + " No Errors\n"), (" No Errors\n", True))
        other = "[vm:0] patchbay: warning: MPI_Finalize: 1 operation is pending\n No Errors\n"
        self.assertEqual(sanitizer.without_unfreed(other), (other, False))


class Symbols(unittest.TestCase):
    def test_own_object_files_without_those_of_the_helpers(self):
        root = temporary(self)
        (root / "bin").mkdir()
        (root / "include").mkdir()
        (root / "include/mpi.h").write_text("")
        (root / "bin/mpicc").write_text("#!/bin/sh\nexec cc \"$@\"\n")
        (root / "bin/mpicc").chmod(0o755)
        tree = build_tree.BuildTree(root, root, "1", root, 1)
        for place, name in (("util", "MPI_Helper"), ("f", "MPI_Own")):
            folder = tree.folder / place
            folder.mkdir(parents=True)
            source = folder / "p.c"
            declared = f"int {name}(void); int other(void);"
            source.write_text(f"{declared} int f_{place}(void) {{ return {name}() + other(); }}\n")
            subprocess.run(["cc", "-c", source, "-o", folder / "p.o"], check=True)
        self.assertEqual(tree.symbols_used(test_list.Test("f", "p")), {"MPI_Own"})
        # Where the object file has another name the executable is read.
        (tree.folder / "f/p.o").rename(tree.folder / "f/other.o")
        objects = [str(tree.folder / "f/other.o"), str(tree.folder / "util/p.o")]
        subprocess.run(["cc", "-r", "-nostdlib", *objects, "-o", str(tree.folder / "f/p")], check=True)
        self.assertEqual(tree.symbols_used(test_list.Test("f", "p")), {"MPI_Own"})


class Reports(unittest.TestCase):
    RESULTS = [
        record.Result("a/x -n 2", "a", "pass", "", 1.4),
        record.Result("a/y -n 2", "a", "fail", "exit status 1: no", 2.0),
        record.Result("a/z -n 2", "a", "fail", "not implemented: MPI_Put (x)", 0.1),
        record.Result("b/sub/v -n 2", "b/sub", "skip", "not ours"),
        record.Result("b/w -n 2", "b", "nobuild", "w.c:1: error: no"),
    ]

    def test_table(self):
        self.assertEqual(
            record.table(self.RESULTS),
            [
                "folder  pass  fail  of these not implemented  skipped  not compiling  seconds",
                "a          1     2                         1        0              0        4",
                "b          0     0                         0        1              1        0",
                "all        1     2                         1        1              1        4",
            ],
        )

    def test_listing(self):
        self.assertEqual(
            record.listing(self.RESULTS),
            [
                "SKIPPED: b/sub/v -n 2: not ours",
                "NOT COMPILING: b/w -n 2: w.c:1: error: no",
                "FAILED: a/z -n 2: not implemented: MPI_Put (x)",
                "FAILED: a/y -n 2: exit status 1: no",
            ],
        )

    def test_last_line(self):
        self.assertEqual(record.last_line(self.RESULTS), "1 passed, 3 failed, 1 skipped")
        self.assertEqual(record.last_line([]), "0 passed, 0 failed, 0 skipped")

    def test_record_goes_on_after_a_cut_line(self):
        path = temporary(self) / "r/results.jsonl"
        first = record.Record(path, "library 1", resume=False)
        first.add(self.RESULTS[0])
        first.add(self.RESULTS[1])
        first.close()
        path.write_bytes(path.read_bytes()[:-20])
        second = record.Record(path, "library 1", resume=True)
        self.assertEqual(list(second.results), ["a/x -n 2"])
        second.add(self.RESULTS[2])
        second.close()
        third = record.Record(path, "library 1", resume=True)
        third.close()
        self.assertEqual(list(third.results), ["a/x -n 2", "a/z -n 2"])

    def test_record_of_another_library_is_not_used(self):
        path = temporary(self) / "results.jsonl"
        first = record.Record(path, "library 1", resume=False)
        first.add(self.RESULTS[0])
        first.close()
        other = record.Record(path, "library 2", resume=True)
        other.close()
        self.assertEqual((other.resumed, other.results), (False, {}))


class PackageSources(unittest.TestCase):
    LINES = """# deb http://x commented main
deb http://mirror.invalid/debian bookworm main contrib
 deb [arch=amd64 signed-by=/k] http://mirror.invalid/sec bookworm-security main
deb http://vendor.invalid vendor-bookworm main
deb-src http://mirror.invalid/debian bookworm main
"""
    STANZAS = """# a comment
Types: deb
URIs: http://mirror.invalid/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /k

Types: deb
URIs: http://vendor.invalid
Suites: stable
Components: main

Enabled: no
Types: deb
URIs: http://off.invalid
Suites: bookworm
Components: main
"""

    def test_lines(self):
        self.assertEqual(
            apt_source.source_lines(self.LINES, "bookworm"),
            [
                "deb-src http://mirror.invalid/debian bookworm main contrib",
                "deb-src [arch=amd64 signed-by=/k] http://mirror.invalid/sec bookworm-security main",
            ],
        )
        self.assertEqual(len(apt_source.source_lines(self.LINES, None)), 3)

    def test_stanzas(self):
        (stanza,) = apt_source.source_stanzas(self.STANZAS, "bookworm")
        self.assertEqual(
            stanza,
            "Types: deb-src\nURIs: http://mirror.invalid/debian\nSuites: bookworm bookworm-updates\n"
            "Components: main\nSigned-By: /k\n",
        )
        self.assertEqual(len(apt_source.source_stanzas(self.STANZAS, None)), 2)

    def test_codename(self):
        self.assertEqual(apt_source.release_codename('ID=debian\nVERSION_CODENAME="bookworm"\n'), "bookworm")
        self.assertIsNone(apt_source.release_codename("ID=other\n"))

    def test_machine_without_sources(self):
        with self.assertRaises(apt_source.CannotFetch):
            apt_source.private_sources(temporary(self), temporary(self) / "apt")


if __name__ == "__main__":
    unittest.main()
