#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every case of an MPI test runs in --full, and with --fifth in one of ten runs that have its test; with a sanitizer in one
of three hundred."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.abspath("tools/bazel"))
from case_selection import RUNS, SANITIZED_PARTS, Wish, select, test_in_run  # pylint: disable=wrong-import-position

TEST = {"variants": {"a": {}, "b": {}, "c": {}}, "np": [0, 2, 5, 8], "static": [2]}
ONE = {"variants": {"": {}}, "np": [0, 1], "static": []}
LABEL = "//tests/comm:x"


def names(test, **wish):
    return [case.name for case in select(LABEL, test, Wish(**wish))]


class Selection(unittest.TestCase):
    def test_full_is_everything(self):
        plain = {f"{variant}_np{n}" for variant in "abc" for n in (0, 2, 5, 8)}
        self.assertEqual(sorted(names(TEST, which="full")), sorted(plain | {f"static_{name}" for name in plain}))
        for build in ("asan", "tsan"):
            self.assertEqual(set(names(TEST, which="full", build=build)), plain)

    def test_sample_has_each_variant_and_each_number_of_ranks(self):
        self.assertEqual(names(TEST, which="quick"), ["a_np0", "a_np8", "b_np2", "c_np5"])
        self.assertEqual(names(TEST), names(TEST, which="quick") + [f"static_{variant}_np2" for variant in "abc"])
        self.assertEqual(names(ONE), ["np0", "np1"])

    def test_ten_runs_are_everything(self):
        runs = [set(names(TEST, fifth=rotation % 5, rotation=rotation)) for rotation in range(7, 17)]
        self.assertEqual(set.union(*runs), set(names(TEST, which="full")))
        self.assertNotEqual(set.union(*runs[:5]), set.union(*runs))
        self.assertLess(max(map(len, runs)), len(set.union(*runs)))

    def test_a_sanitizer_runs_everything_in_time(self):
        for build in ("asan", "tsan"):
            fifth = RUNS[build].fifths[0]
            times = [set(names(TEST, fifth=fifth, build=build, rotation=RUNS[build].commits * i + fifth))
                     for i in range(SANITIZED_PARTS)]
            self.assertEqual(set.union(*times), set(names(TEST, which="full", build=build)))
            self.assertLess(max(map(len, times)), len(set.union(*times)))

    def test_each_test_is_in_one_run_of_a_sanitizer(self):
        labels = [f"//tests/comm:x{i}" for i in range(200)]
        runs = range(RUNS["asan"].commits)
        times = {"long": len(runs) // 5, "asan": 1, "tsan": 1}
        for build, number in times.items():
            for label in labels:
                found = [run % 5 for run in runs if test_in_run(build, label, run % 5, run)]
                self.assertEqual(len(found), number)
                self.assertLessEqual(set(found), set(RUNS[build].fifths))
        for build, part in ("asan", 15), ("long", 5), ("plain", 5):
            command = [sys.executable, "tools/bazel/case_selection.py", build, "0", "805"]
            printed = subprocess.run(command, text=True, check=True, input="".join(f"{label}\n" for label in labels),
                                     stdout=subprocess.PIPE).stdout.split()
            self.assertEqual(printed, [label for label in labels if test_in_run(build, label, 0, 805)])
            self.assertGreater(len(printed), 200 / part * 0.6)
            self.assertLess(len(printed), 200 / part * 1.4)

    def test_the_runs_with_only_the_plain_build_have_all_tests_in_two_and_each_test_nine_times_in_twenty_five(self):
        labels = [f"//tests/comm:x{i}" for i in range(200)]
        for first in range(30):
            for label in labels:
                found = {run % 5 for run in range(first, first + 5) if test_in_run("plain", label, run % 5, run)}
                if first % 5 == 0:
                    self.assertTrue(found & {3, 4})
                with_it = [run for run in range(first, first + 25) if test_in_run("plain", label, run % 5, run)]
                self.assertEqual(len(with_it), 9)
            largest = max(sum(test_in_run("plain", label, run % 5, run) for label in labels)
                          for run in range(first, first + 5))
            self.assertLess(largest, 0.7 * len(labels))

    def test_fifty_runs_have_every_case_of_every_test(self):
        for label in (f"//tests/comm:x{i}" for i in range(20)):
            runs = [{case.name for case in select(label, TEST, Wish(fifth=run % 5, rotation=run))}
                    for run in range(50) if test_in_run("plain", label, run % 5, run)]
            self.assertEqual(set.union(*runs), set(names(TEST, which="full")))

    def test_three_rounds_contain_the_sample(self):
        sample = set(names(TEST))
        for first in range(4):
            runs = [set(names(TEST, fifth=2, rotation=first + 5 * i)) & sample for i in range(3)]
            self.assertEqual(set.union(*runs), sample)
            self.assertLess(sum(len(run) for run in runs), 3 * len(sample))
        always = [set(names(ONE, fifth=0, rotation=rotation)) for rotation in range(10)]
        self.assertTrue(all(always), "each test runs each time")

    def test_sanitizers_take_another_variant_each_time(self):
        self.assertEqual([names(TEST, build="asan", rotation=rotation) for rotation in range(4)],
                         [["a_np2"], ["b_np2"], ["c_np2"], ["a_np2"]])
        self.assertEqual(names(ONE, build="tsan", rotation=7), ["np0"])

    def test_a_pattern_takes_every_case_that_it_matches(self):
        self.assertEqual(names(TEST, pattern="c_np8"), ["c_np8"])
        self.assertEqual(names(TEST, pattern="*_np8"), [f"{v}_np8" for v in "abc"] + [f"static_{v}_np8" for v in "abc"])
        self.assertEqual(names(TEST, pattern="d*"), [])

    def test_the_environment_is_checked(self):
        self.assertEqual(Wish.of({}), Wish())
        self.assertEqual(Wish.of({"PATCHBAY_TEST_SET": "full", "PATCHBAY_TEST_FIFTH": "3", "PATCHBAY_TEST_ROTATION": "12",
                                  "PATCHBAY_TEST_BUILD": "tsan", "TESTBRIDGE_TEST_ONLY": "x"}),
                         Wish("full", 3, 12, "tsan", "x"))
        for name in ("PATCHBAY_TEST_SET", "PATCHBAY_TEST_BUILD"):
            with self.assertRaises(ValueError):
                Wish.of({name: "ful"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
