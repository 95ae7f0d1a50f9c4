# SPDX-License-Identifier: BSD-3-Clause
"""The table of README.md: the writer against made-up results, and the format of what stands in README.md.
readme_test.py README.MD FOLDER_OF_BENCH FOLDER_OF_COMPARISON"""
import os
import re
import sys
import unittest

README, BENCH, AB = (os.path.abspath(path) for path in sys.argv[1:4])
del sys.argv[1:]
sys.path[:0] = [BENCH, AB]
import figures  # noqa: E402  (found through the line above)
import readme_table  # noqa: E402

WHERE = {"date": "2026-01-31", "commit": "0123abc", "changed": False, "quick": False, "cores": 2, "seconds": 754.0,
         "machine": "Processor 9000 @ 2.00GHz, Linux 6.1.0, g++ 12.2.0", "openmpi": "4.1.4", "mpich": "4.0.2"}
UNITS = {"start_up": "ms", "first_barrier": "ms", "wall": "s", "slowdown": "percent", "message_rate_8B": "M/s",
         "ratio_first_exchange": "x"}


def figures_of(row):
    for cell in row.cells.values():
        if not isinstance(cell, str):
            yield from cell


def made_up(value=2.5):
    """Results with every sample that the rows ask for: `value` in 5 blocks."""
    results = {}
    for row in figures.ROWS:
        for figure in figures_of(row):
            samples = results.setdefault(figure.run, {"blocks": 5, "samples": {}})["samples"]
            data = samples.setdefault(figure.metric, {"unit": UNITS.get(figure.metric, "us"), "values": {}})
            for variant in (figure.variant, figure.baseline):
                if variant:
                    data["values"][variant] = [value] * 5
    return results


def lines_of(text):
    return {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("|")}


class Plan(unittest.TestCase):
    def test_rows_refer_to_runs(self):
        runs = {run.name: run for run in figures.RUNS}
        for row in figures.ROWS:
            for figure in figures_of(row):
                if figure == figures.CACHE_LINE:
                    continue
                self.assertIn(figure.run, runs, row.label)
                options = " ".join(runs[figure.run].options)
                if figure.variant in figures.REFERENCES.values():
                    self.assertIn(f"--reference {figure.variant}", options, row.label)
                elif figure.variant not in ("a", "b"):
                    self.assertIn(f"--variant {figure.variant}:", options, row.label)

    def test_metrics_stand_in_the_programs(self):
        programs = {run.name: run.program[0] for run in figures.RUNS}
        system = {"wall", "cpu", "peak_memory"}
        for row in figures.ROWS:
            for figure in figures_of(row):
                if figure.metric in system:
                    continue
                program = programs.get(figure.run, "cache_line.cpp")
                with open(os.path.join(BENCH, program), encoding="utf-8") as file:
                    name = figure.metric.replace("ratio_", "")  # the programs put the two words together
                    self.assertIn(f'"{name}"', file.read(), f"{row.label}: {program}")

    def test_labels_and_runs_are_told_apart(self):
        labels = [row.label for row in figures.ROWS]
        self.assertEqual(len(labels), len(set(labels)))
        names = [run.name for run in figures.RUNS]
        self.assertEqual(len(names), len(set(names)))

    def test_the_time_is_bounded(self):
        self.assertLessEqual(sum(run.seconds for run in figures.RUNS), 20 * 60)

    def test_start_up_and_quiescence_have_intervals(self):
        for row in figures.ROWS:
            if re.search("MPI_Init|hello|slowdown|poll", row.label):
                self.assertTrue(row.interval, row.label)


class Writer(unittest.TestCase):
    def splice(self, results, **where):
        text = f"before\n{readme_table.BEGIN}\nold\n{readme_table.END}\nafter\n"
        return readme_table.splice(text, results, {**WHERE, **where})

    def test_all_of_it_is_in_order(self):
        text = self.splice(made_up())
        self.assertEqual(readme_table.problems(text), [])
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
        self.assertNotIn("old", text)

    def test_the_sentence_says_where_it_comes_from(self):
        self.assertIn("`./dev bench --readme` on 2026-01-31 at commit 0123abc, in 13 minutes: 2 cores, Processor 9000 @ "
                      "2.00GHz, Linux 6.1.0, g++ 12.2.0; Open MPI 4.1.4, MPICH 4.0.2.", self.splice(made_up()))
        text = self.splice(made_up(), minutes=6)
        self.assertIn("`./dev bench --readme --minutes 6` on 2026-01-31", text)
        text = self.splice(made_up(), changed=True, quick=True, cores=1, seconds=3)
        self.assertIn("`./dev bench --readme --quick` on 2026-01-31 at commit 0123abc, changed, in 1 minute: 1 core,",
                      text)
        self.assertEqual(readme_table.problems(text), [])

    def test_a_known_result_stands_in_its_cell(self):
        results = made_up()
        results["pingpong"]["samples"]["half_round_trip_8B"]["values"].update(
            {"a": [0.3, 0.1, 0.1064], "openmpi": [0.164] * 3, "mpich": [1234.5] * 3})
        results["pingpong"]["samples"]["message_rate_8B"]["values"]["a"] = [9.0, 14.5, 11.0]
        results["pingpong"]["samples"]["message_rate_8B"]["unit"] = "M/s"
        results["hello_2"]["samples"]["wall"]["values"]["a"] = [0.018, 0.018, 0.0182, 0.018, 0.018]
        results["cache_line"]["samples"]["cache_line_one_way"]["values"]["a"] = [0.0625]
        results["communicators_16"]["samples"]["dup_free"]["values"]["mpich"] = [145000.0] * 5
        lines = lines_of(self.splice(results))
        self.assertEqual(lines["half round trip, 8 B, best block"],
                         "| half round trip, 8 B, best block | 0.1 us | 0.164 us | 1.23 ms | 0.0625 us |")
        self.assertIn("| 14.5 M/s |", lines["message rate, 8 B, best block"])
        self.assertIn("| hello world, `mpirun -n 2` | 18 ms (18 .. 18.2) |", lines["hello world, `mpirun -n 2`"])
        self.assertIn("| 2.5 us / 2.5 us / 145 ms |", lines["MPI_Comm_dup and free, 2 / 8 / 16 ranks"])

    def test_an_interval_stands_beside_its_median(self):
        results = made_up()
        results["quiescence"]["samples"]["slowdown"]["values"]["a"] = [-1.0, 0.5, 2.0, 2.1, 2.2]
        low, high = readme_table.bootstrap_median([-1.0, 0.5, 2.0, 2.1, 2.2])
        line = lines_of(self.splice(results))["slowdown of a computation on all cores beside ranks in MPI_Barrier"]
        self.assertIn(f"| 2 % ({low:.3g} .. {high:.3g}) |", line)

    def test_a_ratio_is_formed_within_the_blocks(self):
        results = made_up()
        results["start_up_2"]["samples"]["first_barrier"]["values"].update(
            {"a": [10.0, 20.0, 40.0, 10.0, 20.0], "b": [11.0, 22.0, 44.0, 11.0, 22.0]})
        lines = lines_of(self.splice(results))
        line = [line for label, line in lines.items() if label.endswith("to the first barrier, 2 ranks")][0]
        self.assertIn("| 1.1 times (1.1 .. 1.1) | no sessions |", line)

    def test_a_missing_result_is_an_error(self):
        results = made_up()
        del results["hello_2"]
        with self.assertRaises(KeyError):
            self.splice(results)

    def test_readme_without_markers_is_refused(self):
        with self.assertRaises(ValueError):
            readme_table.splice("no table here", made_up(), WHERE)


class Checker(unittest.TestCase):
    """What is not the generator's format is found."""

    def setUp(self):
        self.text = readme_table.splice(f"{readme_table.BEGIN}\n{readme_table.END}", made_up(), WHERE)
        self.assertEqual(readme_table.problems(self.text), [])

    def found(self, old, new):
        self.assertIn(old, self.text)
        return " ".join(readme_table.problems(self.text.replace(old, new, 1)))

    def test_a_row_of_another_origin(self):
        self.assertIn("has no row 'my own figure'", self.found("| barrier, 16", "| my own figure | 1 us | | | |\n| barrier, 16"))

    def test_a_row_that_is_gone(self):
        line = lines_of(self.text)["message rate, 8 B, best block"]
        self.assertIn("the row 'message rate, 8 B, best block' is missing", self.found(line + "\n", ""))

    def test_a_cell_that_is_no_figure(self):
        self.assertIn("is no figure", self.found("| 2.5 us |", "| 2.5 us, six more runs 3 us |"))

    def test_a_line_without_its_commit(self):
        self.assertIn("the first line", self.found(" at commit 0123abc", ""))

    def test_markers(self):
        self.assertIn("is missing", self.found(readme_table.END, ""))


class Readme(unittest.TestCase):
    def test_its_table_is_the_generators(self):
        with open(README, encoding="utf-8") as file:
            self.assertEqual(readme_table.problems(file.read()), [])


unittest.main()
