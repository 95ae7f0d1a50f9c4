# SPDX-License-Identifier: BSD-3-Clause
"""patchbay-ab against a made-up installation: its mpirun prints metrics that depend on the parameters."""
import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.dirname(TOOL))
import comparison  # noqa: E402

MPIRUN = r"""#!/bin/bash
speed=10
while [ $# -gt 0 ]; do
    case $1 in
    -n) shift 2;;
    --mca) [ "$2" = speed ] && speed=$3; [ "$2" = fail ] && { echo "rank 0 has no $3" >&2; exit 3; }
           [ "$2" = hang ] && sleep 60; shift 3;;
    *) break;;
    esac
done
[ "$1" = silent ] && exit 0
[ "$2" = slow ] && speed=$3
echo "some other output"
echo "METRIC latency $speed.$((RANDOM % 10)) us lower"
echo "METRIC rate $((1000 / speed)) M/s higher"
"""


class Comparison(unittest.TestCase):
    def test_interval_holds_a_known_ratio(self):
        a = [10.0 + i % 3 * 0.1 for i in range(15)]
        low, high = comparison.bootstrap_ratio(a, [2 * x for x in a])
        self.assertLessEqual(low, 2.0)
        self.assertGreaterEqual(high, 2.0)
        self.assertLess(high - low, 0.1)

    def test_verdict_knows_which_way_is_better(self):
        self.assertEqual(comparison.verdict((0.5, 0.6), "lower", "b"), "b is better")
        self.assertEqual(comparison.verdict((0.5, 0.6), "higher", "b"), "b is worse")
        self.assertEqual(comparison.verdict((0.9, 1.1), "lower", "b"), "no difference shown")

    def test_interval_of_a_median_holds_it(self):
        low, high = comparison.bootstrap_median([10.0 + i % 5 * 0.1 for i in range(25)])
        self.assertTrue(10.0 <= low <= 10.2 <= high <= 10.4, (low, high))
        self.assertEqual(comparison.bootstrap_median([3.0]), (3.0, 3.0))
        with self.assertRaises(ValueError):
            comparison.bootstrap_median([])

    def test_unequal_samples_are_refused(self):
        with self.assertRaises(ValueError):
            comparison.bootstrap_ratio([1.0, 2.0], [1.0])


class Tool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.mkdir(os.path.join(self.folder.name, "bin"))
        launcher = os.path.join(self.folder.name, "bin", "mpirun")
        with open(launcher, "w", encoding="utf-8") as file:
            file.write(MPIRUN)
        os.chmod(launcher, os.stat(launcher).st_mode | stat.S_IXUSR)

    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False,
                              env=dict(os.environ, PATCHBAY_PREFIX=self.folder.name), timeout=60)

    def test_variants_are_told_apart(self):
        result = self.run_tool("--a", "speed=10", "--b", "speed=20", "--blocks", "5", "--json", "-", "--", "/bin/true")
        self.assertEqual(result.returncode, 0, result.stderr)
        data = json.loads(result.stdout)
        rows = {(row["metric"], row["variant"]): row for row in data["rows"]}
        latency = rows["latency", "b"]
        self.assertGreater(latency["ratio"], 1.7)
        self.assertLess(latency["ratio"], 2.2)
        self.assertEqual(latency["verdict"], "b is worse")
        self.assertEqual(rows["rate", "b"]["verdict"], "b is worse")
        self.assertEqual(len(data["samples"]["latency"]["values"]["a"]), 5)

    def test_one_variant_has_arguments_of_its_own(self):
        result = self.run_tool("--b", "", "--arguments", "b:slow '30'", "--blocks", "5", "--json", "-", "--", "program")
        rows = {(row["metric"], row["variant"]): row for row in json.loads(result.stdout)["rows"]}
        self.assertGreater(rows["latency", "b"]["ratio"], 2)
        wrong = self.run_tool("--b", "", "--arguments", "c:slow", "--", "program")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("there is no variant 'c' (there are a, b)", wrong.stderr)

    def test_same_settings_show_no_difference(self):
        result = self.run_tool("--a", "speed=50", "--b", "speed=50", "--blocks", "9", "--seed", "4", "--", "/bin/true")
        self.assertIn("no difference shown", result.stdout)
        self.assertIn("seed 4", result.stdout)

    def test_program_without_metrics_gives_wall_cpu_memory(self):
        result = self.run_tool("--b", "", "--blocks", "2", "--warm-up", "0", "--json", "-", "--", "silent")
        metrics = {row["metric"] for row in json.loads(result.stdout)["rows"]}
        self.assertEqual(metrics, {"wall", "cpu", "peak_memory"})

    def test_failing_program_is_reported_with_its_words(self):
        result = self.run_tool("--b", "fail=luck", "--", "/bin/true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("ended with status 3", result.stderr)
        self.assertIn("rank 0 has no luck", result.stderr)

    def test_hanging_program_is_ended(self):
        result = self.run_tool("--b", "hang=1", "--limit", "1", "--", "/bin/true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("did not end within 1.0 s", result.stderr)

    def test_seconds_bound_the_blocks(self):
        result = self.run_tool("--b", "", "--blocks", "100000", "--seconds", "0.5", "--json", "-", "--", "/bin/true")
        self.assertEqual(result.returncode, 0, result.stderr)
        data = json.loads(result.stdout)
        self.assertLess(data["blocks"], 100000)
        self.assertEqual(data["blocks"], len(data["samples"]["latency"]["values"]["b"]))
        at_least_one = self.run_tool("--b", "", "--blocks", "9", "--seconds", "0", "--", "/bin/true")
        self.assertIn("2 ranks, 1 blocks", at_least_one.stdout)

    def test_peer_needs_source(self):
        result = self.run_tool("--peer", "mpich", "--", "/bin/true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--reference needs the source", result.stderr)

    def test_one_variant_is_nothing_to_compare(self):
        self.assertIn("nothing to compare", self.run_tool("--", "/bin/true").stderr)

    def test_wrong_setting(self):
        self.assertIn("not of the form", self.run_tool("--b", "speed", "--", "/bin/true").stderr)


unittest.main()
