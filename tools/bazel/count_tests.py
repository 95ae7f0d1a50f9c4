#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the tests that really ran: count_tests.py [--budget FILE] NAME=EVENTS.json ...

Each argument is one `bazel test`: a name for the reader and its build event file. A GoogleTest program and a test with a
report of cases (case_report.py) count by their cases, any other test as one. A script that prints
`SKIPPED: <name>: <reason>` and passes is skipped, by that name; so is each skipped test of a unittest script.
With --budget, a folder that needed more launches than the file allows, or many times the seconds, is a failure. One that
needed clearly more seconds is reported by a line `SLOW: <folder>: ...`: a machine may be slow, or busy.
Below each failure, indented, is what the test printed of it: its first line and its last ones.
The last line of the output is `N passed, N failed`, with `, N skipped` where so; the exit status is 0 when none failed.
"""
import argparse
import json
import re
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import case_report

SLOWEST = 20
# What is printed of the text of a failure.
MOST_LINES = 12
MOST_COLUMNS = 300
# So many times the seconds in the file are reported, and so many a failure: a wait that is not woken, say.
SLOW_FROM = 2
MOST = 6
# Bazel's lines at the beginning of a log.
LOG_HEAD = re.compile(r"^exec \$\{PAGER.*\nExecuting tests from .*\n-+\n")
# What unittest prints with verbosity 2, and its last lines.
UNITTEST_SKIP = re.compile(r"^(\w+) \(\S+\)(?:\n.*)? \.\.\. skipped (.+)$", re.MULTILINE)
UNITTEST_END = re.compile(r"^Ran (\d+) tests? in .*\n\n\w+ ?(?:\((.*)\))?$", re.MULTILINE)


@dataclass
class Case:
    """One verdict of a test."""
    name: str
    verdict: str
    seconds: float = 0.0
    launches: int = 0
    sampled: bool = True
    text: str = ""  # why it failed


class Count:
    def __init__(self):
        self.passed = 0
        self.failures = 0
        self.failed = []  # lines, the text of a failure indented
        self.skipped = []
        self.slow = []  # (seconds, name)
        self.slow_folders = []
        self.used = {}  # folder -> [launches, seconds] of the default set

    def fail(self, name, text=""):
        self.failed.append(f"FAILED: {name}")
        self.failures += 1
        text = LOG_HEAD.sub("", text)
        lines = [line.rstrip()[:MOST_COLUMNS] for line in text.splitlines() if line.strip()]
        if len(lines) > MOST_LINES:
            lines = [lines[0], "[...]"] + lines[2 - MOST_LINES:]
        self.failed += [f"    {line}" for line in lines]

    def add_run(self, name, events):
        """Adds one `bazel test` run from its build events."""
        wanted, results, incompatible = set(), {}, set()
        for event in events:
            identity = event["id"]
            if "targetConfigured" in identity and event.get("configured", {}).get("testSize"):
                wanted.add(identity["targetConfigured"]["label"])
            elif "testResult" in event:
                # A later attempt replaces an earlier one.
                results[identity["testResult"]["label"]] = event["testResult"]
            elif event.get("aborted", {}).get("reason") == "SKIPPED":
                incompatible |= {part["label"] for part in identity.values() if "label" in part}
        for label in sorted(wanted | set(results)):
            if label in results:
                self.add_test(name, label, results[label])
            elif label not in incompatible:
                self.fail(f"{name} {label}: did not run")

    def add_test(self, run, label, result):
        name = f"{run} {label}"
        files = {output["name"]: read_uri(output.get("uri")) for output in result.get("testActionOutput", [])}
        seconds = int(result.get("testAttemptDurationMillis", 0)) / 1000
        kind, cases = reported_cases(files.get("test.xml", ""))
        passed = result["status"] == "PASSED"
        if not kind:
            cases = script_cases(passed, files.get("test.log", ""))
            for case in cases:
                case.seconds = seconds / len(cases)
        # The time of a GoogleTest program is more than that of its cases.
        self.use(label, cases, None if kind == "cases" else seconds)
        for case in cases:
            full = f"{name} {case.name}".rstrip()
            self.slow.append((case.seconds, full))
            if case.verdict == "passed":
                self.passed += 1
            elif case.verdict == "skipped":
                self.skipped.append(full if kind else f"{name}: {case.name}")
            else:
                self.fail(full if kind else f"{name}: {result['status']}", case.text)
        if kind and not passed and all(case.verdict != "failed" for case in cases):
            self.fail(f"{name}: {result['status']} although no case failed", files.get("test.log", ""))

    def use(self, label, cases, seconds):
        """Notes what a test needed of its folder's budget."""
        folder = label.lstrip("/").partition(":")[0]
        used = self.used.setdefault(folder, [0, 0.0])
        sampled = [case for case in cases if case.sampled]
        used[0] += sum(case.launches for case in sampled)
        used[1] += sum(case.seconds for case in sampled) if seconds is None else seconds

    def check(self, budget):
        """Adds a failure for each folder that is over its budget, or has none."""
        for folder, (launches, seconds) in sorted(self.used.items()):
            if folder not in budget:
                self.fail(f"budget {folder}: not in tests/budget.json ({launches} launches, {seconds:.0f} s)")
                continue
            allowed = budget[folder]
            if launches > allowed["launches"]:
                self.fail(f"budget {folder}: {launches} launches, {allowed['launches']} are allowed")
            text = f"{folder}: {seconds:.0f} s, {allowed['seconds']} are allowed and {MOST * allowed['seconds']} tolerated"
            if seconds > MOST * allowed["seconds"]:
                self.fail("budget " + text)
            elif seconds > SLOW_FROM * allowed["seconds"]:
                self.slow_folders.append(text)

    def report(self, budget):
        if budget is not None:
            print(f"{'launches':>16} {'seconds':>16}")
            for folder, (launches, seconds) in sorted(self.used.items()):
                allowed = budget.get(folder, {"launches": "-", "seconds": "-"})
                print(f"{launches:6} of {allowed['launches']:>6} {seconds:6.0f} of {allowed['seconds']:>6}  {folder}")
            print(f"the {SLOWEST} slowest cases:")
            for seconds, name in sorted(self.slow, reverse=True)[:SLOWEST]:
                print(f"{seconds:8.2f} s  {name}")
        for line in self.slow_folders:
            print("SLOW:", line)
        for line in self.skipped:
            print("SKIPPED:", line)
        for line in self.failed:
            print(line)
        total = f"{self.passed} passed, {self.failures} failed"
        if self.skipped:
            total += f", {len(self.skipped)} skipped"
        print(total)


def read_uri(uri):
    if not uri:
        return ""
    path = Path(urllib.request.url2pathname(urllib.parse.urlparse(uri).path))
    return path.read_text(errors="replace") if path.exists() else ""


def reported_cases(text):
    """"gtest" or "cases", and the cases of such a report; nothing for Bazel's own one-test report."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return "", []
    kind = {"AllTests": "gtest", case_report.ROOT: "cases"}.get(root.get("name"), "")
    if not kind:
        return "", []
    cases = []
    for case in root.iter("testcase"):
        text = ""
        failure = case.find("failure")
        if failure is not None:
            verdict = "failed"
            text = failure.text or failure.get("message", "")
        elif (case.get("status") == "notrun" or case.get("result") in ("skipped", "suppressed")
              or case.find("skipped") is not None):
            verdict = "skipped"
        else:
            verdict = "passed"
        name = case.get("name") if kind == "cases" else f"{case.get('classname')}.{case.get('name')}"
        cases.append(Case(name, verdict, float(case.get("time", 0)), int(case.get("launches", 0)),
                          case.get("sampled", "1") == "1", text))
    return kind, cases


def script_cases(passed, log):
    """What a script counts for: one case, or what it has skipped, or both where a unittest script skipped a part."""
    if not passed:
        return [Case("", "failed", text=log)]
    ends = UNITTEST_END.findall(log)
    if not ends:
        return [Case(skip, "skipped") for skip in case_report.SKIPPED.findall(log)] or [Case("", "passed")]
    ran = sum(int(number) for number, _ in ends)
    skipped = sum(int(number) for _, counts in ends for number in re.findall(r"skipped=(\d+)", counts))
    names = [f"{test}: {reason}" for test, reason in UNITTEST_SKIP.findall(log)]
    # Output of the tests may have torn the lines; unittest's own number is the right one.
    names = names[:skipped] + ["a test of this script"] * (skipped - len(names))
    return [Case(name, "skipped") for name in names] + ([Case("", "passed")] if ran > skipped else [])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=Path)
    parser.add_argument("runs", nargs="+", metavar="NAME=EVENTS")
    options = parser.parse_args(arguments)
    count = Count()
    for argument in options.runs:
        name, path = argument.split("=", 1)
        try:
            with open(path, encoding="utf-8") as lines:
                count.add_run(name, [json.loads(line) for line in lines if line.strip()])
        except OSError as error:
            count.fail(f"{name}: no record of the run: {error}")
    budget = json.loads(options.budget.read_text(encoding="utf-8"))["folders"] if options.budget else None
    if options.budget:
        count.check(budget)
    count.report(budget)
    return 1 if count.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
