# SPDX-License-Identifier: BSD-3-Clause
"""The report of a test that runs several cases: one XML file in the form that Bazel and count_tests.py read.

A case is a program under one launcher with one number of ranks and one set of parameters, or one test of a script.
"""
import os
import re
import time
import xml.etree.ElementTree as ElementTree

# The name of the root element, by which count_tests.py recognises these reports.
ROOT = "cases"
SKIPPED = re.compile(r"^SKIPPED: (.+)$", re.MULTILINE)
# Characters that XML 1.0 cannot hold.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")
# What a report keeps of the output of one case, at its beginning and at its end.
_KEPT = 50000


class Report:
    """Collects verdicts, prints one line for each, and writes the XML file that Bazel asked for."""

    def __init__(self):
        self._label = os.environ.get("TEST_TARGET", "")
        self._cases = []

    def add(self, name, verdict, seconds, text="", launches=0, sampled=True):
        """Verdict is "passed", "skipped" or "failed"; the text is the reason. Sampled: the default set contains the case."""
        self._cases.append((name, verdict, seconds, text, launches, sampled))
        line = f"[{verdict}] {self._label} {name} ({seconds:.2f} s)"
        print(f"{line}\n{text}" if text else line, flush=True)

    def failures(self):
        return [name for name, verdict, *_ in self._cases if verdict == "failed"]

    def write(self):
        """Replaces the report written before."""
        path = os.environ.get("XML_OUTPUT_FILE")
        if not path:
            return
        count = {"tests": str(len(self._cases)), "failures": str(len(self.failures()))}
        root = ElementTree.Element("testsuites", name=ROOT, **count)
        suite = ElementTree.SubElement(root, "testsuite", name=self._label, **count)
        for name, verdict, seconds, text, launches, sampled in self._cases:
            case = ElementTree.SubElement(suite, "testcase", name=name, classname=self._label, time=f"{seconds:.3f}",
                                          launches=str(launches), sampled=str(int(sampled)))
            if verdict != "passed":
                part = ElementTree.SubElement(case, "failure" if verdict == "failed" else "skipped")
                part.set("message", (_clean(text).strip().splitlines() or [verdict])[0])
                part.text = _clean(text)
        ElementTree.ElementTree(root).write(path + ".new", encoding="utf-8", xml_declaration=True)
        os.replace(path + ".new", path)

    def measure(self, name, body, launches=0):
        """Runs one case in this process. The body returns None, or a reason why it is skipped; it raises if it fails."""
        begin = time.monotonic()
        try:
            reason = body()
            verdict, text = ("skipped", f"SKIPPED: {reason}") if reason else ("passed", "")
        except Exception as error:  # pylint: disable=broad-except
            verdict, text = "failed", f"{type(error).__name__}: {error}"
        self.add(name, verdict, time.monotonic() - begin, text, launches)


def _clean(text):
    if len(text) > 2 * _KEPT:
        text = f"{text[:_KEPT]}\n[... {len(text) - 2 * _KEPT} characters are left out ...]\n{text[-_KEPT:]}"
    return _FORBIDDEN.sub("?", text)
