# SPDX-License-Identifier: BSD-3-Clause
"""patchbay-ab against a made-up installation: its mpirun prints metrics that depend on the parameters."""
import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
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
           [ "$2" = hang ] && { [ -n "$STARTED" ] && echo $$ >"$STARTED"; sleep 60; }
           [ "$2" = tidy ] && { trap 'echo >"$3"; exit 0' TERM; sleep 60 & wait; }
           [ "$2" = stubborn ] && { trap "" TERM; sleep 60; }
           [ "$2" = warn ] && for rank in 0 1; do echo "[host:$rank] patchbay: warning: $3 is slow here" >&2; done
           [ "$2" = sped ] && echo "[host:0] patchbay: warning: unknown parameter sped = '$3'; did you mean 'speed'?" >&2
           shift 3;;
    *) break;;
    esac
done
[ "$1" = silent ] && exit 0
[ "$1" = large ] && { head -c 40000000 /dev/zero | tail -c 39000000 >/dev/null; exit 0; }
[ "$1" = units ] && { [ "$speed" = 10 ] && echo "METRIC t 5 ms lower" || echo "METRIC t 5000 us lower"; exit 0; }
[ "$1" = gap ] && { [ -e "$2" ] && echo "METRIC t 5 ms lower"; : >"$2"; echo "METRIC u 5 ms lower"; exit 0; }
[ "$1" = noisy ] && { seq 1000; echo "rank 0 has no luck" >&2; exit 3; }
[ "$1" = odd ] && { echo "METRIC latency nan us lower"; exit 0; }
[ "$2" = slow ] && speed=$3
[ "$1" = bytes ] && printf '\\377\\376\\n'
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

    def test_columns_are_as_wide_as_what_is_in_them(self):
        rows = comparison.compare(
            {name: {"unit": "us", "better": "lower", "values": {"a": [1.0], "b": [2.0]}}
             for name in ("short", "a_metric_with_a_name_of_forty_characters")}, "a", ["a", "b"])
        lines = comparison.table(rows, "a").splitlines()
        ends = [line.index("us") for line in lines[1:]]
        self.assertEqual(len(set(ends)), 1, lines)
        self.assertEqual(lines[0].index("unit"), ends[0])

    def test_no_interval_of_a_baseline_around_zero(self):
        self.assertIsNone(comparison.bootstrap_ratio([0.0, 0.0, 0.0, 0.0, 50.0, 50.0, 50.0], [10.0] * 7))

    def test_unequal_samples_are_refused(self):
        with self.assertRaises(ValueError):
            comparison.bootstrap_ratio([1.0, 2.0], [1.0])


# The program runs with the library that the loader would find, and has been built by the wrapper of one installation.
LIBRARY_MPIRUN = r"""#!/bin/bash
speed=10
[ "$3" = --mca ] && { speed=$5; shift 3; }
first=${LD_LIBRARY_PATH%%:*}
[ "${first#"%s"}" = "$first" ] && exit 4
echo "METRIC library $(cat "$first/speed") us lower"
echo "METRIC built_by $(cat "$3") us lower"
echo "METRIC parameter $speed us lower"
"""
MPICC = r"""#!/bin/bash
for last; do :; done
cp "$(dirname "$0")/../lib/speed" "$last"
"""


def write_script(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


class Tool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        write_script(os.path.join(self.folder.name, "bin", "mpirun"), MPIRUN)

    def run_tool(self, *arguments, **environment):
        return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False,
                              env=dict(os.environ, PATCHBAY_PREFIX=self.folder.name, **environment), timeout=60)

    def make_prefix(self, name, speed):
        """An installation whose programs measure `speed`."""
        prefix = os.path.join(self.folder.name, name)
        write_script(os.path.join(prefix, "bin", "mpirun"), LIBRARY_MPIRUN % self.folder.name)
        write_script(os.path.join(prefix, "bin", "mpicc"), MPICC)
        write_script(os.path.join(prefix, "lib", "speed"), str(speed))
        return prefix

    def values(self, result):
        """metric -> variant -> the set of its samples"""
        self.assertEqual(result.returncode, 0, result.stderr)
        samples = json.loads(result.stdout)["samples"]
        return {metric: {name: set(values) for name, values in data["values"].items()}
                for metric, data in samples.items()}

    def test_prefixes_are_compared(self):
        old, new = self.make_prefix("old", 20), self.make_prefix("new", 30)
        source = os.path.join(self.folder.name, "program.c")
        write_script(source, "")
        both = ["--prefix", "old:" + old, "--prefix", "new:" + new]
        result = self.run_tool(*both, "--variant", "new:speed=7", "--blocks", "3", "--json", "-", "--", source)
        self.assertEqual(self.values(result), {"library": {"old": {20}, "new": {30}}, "built_by": {"old": {20}, "new": {30}},
                                               "parameter": {"old": {10}, "new": {7}}})
        rows = {(row["metric"], row["variant"]): row for row in json.loads(result.stdout)["rows"]}
        self.assertEqual(rows["library", "new"]["ratio"], 1.5)
        self.assertEqual(rows["library", "new"]["interval"], [1.5, 1.5])
        self.assertNotIn("ratio", rows["library", "old"])
        # A binary runs with the library of each prefix, whatever the user's environment names.
        binary = os.path.join(self.folder.name, "binary")
        write_script(binary, "5")
        result = self.run_tool(*both, "--blocks", "2", "--json", "-", "--", binary, LD_LIBRARY_PATH="/elsewhere")
        self.assertEqual(self.values(result)["library"], {"old": {20}, "new": {30}})
        shown = self.run_tool(*both, "--blocks", "1", "--", binary).stdout
        self.assertIn(f"old: patchbay {old}\nnew: patchbay {new}\n", shown)

    def test_own_installation_takes_part_when_asked_for(self):
        old = self.make_prefix("old", 20)
        new = self.make_prefix("", 30)
        binary = os.path.join(self.folder.name, "binary")
        write_script(binary, "5")
        asked = self.run_tool("--a", "", "--prefix", "old:" + old, "--blocks", "1", "--json", "-", "--", binary)
        self.assertEqual(self.values(asked)["library"], {"a": {30}, "old": {20}})
        self.assertEqual([row["variant"] for row in json.loads(asked.stdout)["rows"]][:2], ["a", "old"])
        with_b = self.run_tool("--prefix", "old:" + old, "--b", "speed=3", "--blocks", "1", "--json", "-", "--", binary)
        self.assertEqual(self.values(with_b)["parameter"], {"a": {10}, "old": {10}, "b": {3}})
        alone = self.run_tool("--prefix", "new:" + new, "--", binary)
        self.assertIn("nothing to compare", alone.stderr)

    def test_wrong_prefixes(self):
        good = self.make_prefix("good", 1)
        for words, complaint in ((["good"], "not of the form NAME:DIR"), (["x:/nonexistent"], "there is no bin/mpirun"),
                                 ([f"x:{good}", f"x:{good}"], "two prefixes have the same name: x"),
                                 ([f"mpich:{good}"], "two variants have the same name")):
            options = [word for text in words for word in ("--prefix", text)]
            result = self.run_tool(*options, "--reference", "mpich", "--", "/bin/true")
            self.assertEqual(result.returncode, 1)
            self.assertIn(complaint, result.stderr)

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
        # Memory below that of the tool itself is no result.
        for program, expected in ("large", {"wall", "cpu", "peak_memory"}), ("silent", {"wall", "cpu"}):
            result = self.run_tool("--b", "", "--blocks", "2", "--warm-up", "0", "--json", "-", "--", program)
            rows = json.loads(result.stdout)["rows"]
            self.assertEqual({row["metric"] for row in rows}, expected)
            self.assertEqual("cannot be measured" in result.stderr, program == "silent")
            self.assertTrue(all(row["median"] > 35 for row in rows if row["metric"] == "peak_memory"), rows)

    def test_metrics_that_cannot_be_compared(self):
        units = self.run_tool("--b", "speed=20", "--", "units")
        self.assertIn("METRIC t has ", units.stderr)
        self.assertIn("cannot be compared", units.stderr)
        with tempfile.TemporaryDirectory() as folder:
            gap = self.run_tool("--b", "", "--warm-up", "0", "--", "gap", os.path.join(folder, "second"))
        self.assertIn("METRIC lines of the same names: t", gap.stderr)
        self.assertEqual((units.returncode, gap.returncode), (1, 1))

    def test_a_comparison_that_fails_leaves_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "result.json")
            self.assertEqual(self.run_tool("--b", "", "--json", file, "--", "odd").returncode, 1)
            self.assertFalse(os.path.exists(file))

    def test_error_text_behind_a_long_output(self):
        self.assertIn("rank 0 has no luck", self.run_tool("--b", "", "--", "noisy").stderr)

    def test_failing_program_is_reported_with_its_words(self):
        result = self.run_tool("--b", "fail=luck", "--", "/bin/true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("ended with status 3", result.stderr)
        self.assertIn("rank 0 has no luck", result.stderr)

    def test_warnings_are_shown_once_for_each_variant(self):
        result = self.run_tool("--a", "warn=disk", "--b", "warn=disk warn=tape", "--blocks", "3", "--", "/bin/true")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(result.stderr.splitlines()), [
            "a: [host:0] patchbay: warning: disk is slow here",
            "b: [host:0] patchbay: warning: disk is slow here",
            "b: [host:0] patchbay: warning: tape is slow here"])

    def test_misspelt_parameter_ends_the_comparison(self):
        result = self.run_tool("--b", "sped=20", "--", "/bin/true")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, "patchbay-ab: b: patchbay: warning: unknown parameter sped = '20'; "
                                        "did you mean 'speed'?\n")

    def test_one_block_gives_no_verdict(self):
        result = self.run_tool("--b", "speed=20", "--blocks", "1", "--json", "-", "--", "/bin/true")
        row = next(row for row in json.loads(result.stdout)["rows"] if (row["metric"], row["variant"]) == ("latency", "b"))
        self.assertGreater(row["ratio"], 1.7)
        self.assertEqual((row["interval"], row["verdict"]), (None, "too few blocks for a verdict"))
        shown = self.run_tool("--b", "speed=20", "--blocks", "1", "--", "/bin/true").stdout
        self.assertNotIn(" .. ", shown)
        self.assertIn("too few blocks for a verdict", shown)

    def test_hanging_program_is_ended(self):
        result = self.run_tool("--b", "hang=1", "--limit", "1", "--", "/bin/true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("did not end within 1.0 s", result.stderr)

    def test_a_launcher_that_takes_too_long_can_tidy_up(self):
        tidied = os.path.join(self.folder.name, "tidied")
        self.run_tool("--b", "tidy=" + tidied, "--limit", "1", "--", "/bin/true")
        self.assertTrue(os.path.exists(tidied))
        result = self.run_tool("--b", "stubborn=1", "--limit", "1", "--", "/bin/true")
        self.assertIn("did not end within 1.0 s", result.stderr)

    @staticmethod
    def is_gone(group, signal_to=os.killpg):
        """Whether no process of the group is left, or not its first one with os.kill, when init has had the time to take the
        ended ones."""
        for _ in range(500):
            try:
                signal_to(group, 0)
            except ProcessLookupError:
                return True
            time.sleep(0.01)
        return False

    def test_signals_end_the_run(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131),
                               (signal.SIGKILL, -9)):
            with self.subTest(signal=number), tempfile.TemporaryDirectory() as temporary:
                started = os.path.join(temporary, "started")
                tool = subprocess.Popen(
                    [sys.executable, TOOL, "--b", "hang=1", "--", "/bin/true"], stderr=subprocess.PIPE, text=True,
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # the test may run under nohup
                    env=dict(os.environ, PATCHBAY_PREFIX=self.folder.name, STARTED=started, TMPDIR=temporary))
                while not (os.path.exists(started) and os.path.getsize(started)):
                    self.assertIsNone(tool.poll())
                    time.sleep(0.01)
                with open(started, encoding="ascii") as file:
                    session = int(file.read())
                tool.send_signal(number)
                _, errors = tool.communicate(timeout=30)
                self.assertEqual(tool.returncode, status, errors)
                self.assertNotIn("Traceback", errors)
                if number == signal.SIGKILL:  # only a real mpirun ends its children
                    self.assertTrue(self.is_gone(session, os.kill))
                    with contextlib.suppress(ProcessLookupError):  # they may have ended with it
                        os.killpg(session, signal.SIGKILL)
                else:
                    self.assertEqual(os.listdir(temporary), ["started"])
                self.assertTrue(self.is_gone(session))

    def test_nohup(self):
        tool = subprocess.Popen([sys.executable, TOOL, "--b", "", "--blocks", "20", "--", "/bin/true"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
                                env=dict(os.environ, PATCHBAY_PREFIX=self.folder.name))
        for _ in range(10):
            time.sleep(0.05)
            tool.send_signal(signal.SIGHUP)
        out, errors = tool.communicate(timeout=60)
        self.assertEqual(tool.returncode, 0, errors)
        self.assertIn("20 blocks", out)

    def test_standard_output_is_closed(self):
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, TOOL, "--b", "", "--blocks", "1", "--",
                               "/bin/true"], stderr=subprocess.PIPE, text=True, check=False,
                              env=dict(os.environ, PATCHBAY_PREFIX=self.folder.name), timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_output_that_is_no_text(self):
        result = self.run_tool("--b", "speed=2", "--blocks", "1", "--", "bytes")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("latency", result.stdout)

    def test_prefix_that_does_not_exist(self):
        done = subprocess.run([sys.executable, TOOL, "--b", "speed=2", "--", "/bin/true"], capture_output=True, text=True,
                              env=dict(os.environ, PATCHBAY_PREFIX="/no/such/place"), timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("/no/such/place/bin/mpirun", done.stderr)

    def test_wrong_words_and_numbers(self):
        for arguments, text in (
            (("--b", "speed='2", "--", "/bin/true"), "No closing quotation"),
            (("--b", "speed=2", "--b", "hang=1", "--", "/bin/true"), "--b is given twice"),
            (("--b", "speed=2", "--", "odd"), "'nan' is no number"),
            (("--variant", "speed=2", "--", "/bin/true"), "--variant speed=2 is not of the form"),
            (("--b", "speed=2", "--json", "/no/such/place/x", "--", "/bin/true"), "--json /no/such/place/x: No such file"),
            (("--b", "speed=2", "--limit", "-1", "--", "/bin/true"), "--limit must be above 0"),
            (("--b", "speed=2", "--seconds", "nan", "--", "/bin/true"), "--seconds must be at least 0"),
        ):
            with self.subTest(arguments=arguments):
                result = self.run_tool(*arguments)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(text, result.stderr)
                self.assertNotIn("Traceback", result.stderr)

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
