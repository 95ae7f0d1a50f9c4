#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts what really ran: count_tests.py NAME=EVENTS.json ...

Each argument is one `bazel test`: a name for the reader and its build event file. A GoogleTest program counts by its
cases, any other test as one. A script that prints `SKIPPED: <name>: <reason>` and passes is skipped, by that name.
The last line of the output is `N passed, N failed`, with `, N skipped` where so; the exit status is 0 when none failed.
"""
import json
import re
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SKIPPED = re.compile(r"^SKIPPED: (.+)$", re.MULTILINE)


class Count:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []

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
                self.add_test(f"{name} {label}", results[label])
            elif label not in incompatible:
                self.failed.append(f"{name} {label}: did not run")

    def add_test(self, name, result):
        files = {output["name"]: read_uri(output.get("uri")) for output in result.get("testActionOutput", [])}
        passed = result["status"] == "PASSED"
        cases = gtest_cases(files.get("test.xml", ""))
        if cases:
            for case, verdict in cases:
                self.add_case(f"{name} {case}", verdict)
            if not passed and all(verdict != "failed" for _, verdict in cases):
                self.failed.append(f"{name}: {result['status']} although no case failed")
            return
        skips = SKIPPED.findall(files.get("test.log", ""))
        if not passed:
            self.failed.append(f"{name}: {result['status']}")
        elif skips:
            self.skipped += [f"{name}: {skip}" for skip in skips]
        else:
            self.passed += 1

    def add_case(self, name, verdict):
        if verdict == "passed":
            self.passed += 1
        elif verdict == "failed":
            self.failed.append(name)
        else:
            self.skipped.append(name)

    def report(self):
        for line in self.skipped:
            print("SKIPPED:", line)
        for line in self.failed:
            print("FAILED:", line)
        total = f"{self.passed} passed, {len(self.failed)} failed"
        if self.skipped:
            total += f", {len(self.skipped)} skipped"
        print(total)


def read_uri(uri):
    if not uri:
        return ""
    path = Path(urllib.request.url2pathname(urllib.parse.urlparse(uri).path))
    return path.read_text(errors="replace") if path.exists() else ""


def gtest_cases(text):
    """The cases of a GoogleTest report as (name, verdict); nothing for Bazel's own one-test report."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return []
    if root.get("name") != "AllTests":
        return []
    cases = []
    for case in root.iter("testcase"):
        if case.find("failure") is not None:
            verdict = "failed"
        elif case.get("status") == "notrun" or case.get("result") in ("skipped", "suppressed"):
            verdict = "skipped"
        else:
            verdict = "passed"
        cases.append((f"{case.get('classname')}.{case.get('name')}", verdict))
    return cases


def main(arguments):
    count = Count()
    for argument in arguments:
        name, path = argument.split("=", 1)
        try:
            with open(path, encoding="utf-8") as lines:
                count.add_run(name, [json.loads(line) for line in lines if line.strip()])
        except OSError as error:
            count.failed.append(f"{name}: no record of the run: {error}")
    count.report()
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
