# SPDX-License-Identifier: BSD-3-Clause
"""Judges a run by the suite's own rules, and finds the reason of a failure.

A test passes with exit status 0, a line ` No Errors` and no other output, unless its line in the testlist names another
rule.
"""
import re
from dataclasses import dataclass

PASS, FAIL, SKIP, NO_BUILD = "pass", "fail", "skip", "nobuild"
# The text of the errors that a function which is not implemented reports.
NOT_IMPLEMENTED = re.compile(r"\b(MPIX?_\w+): this build does not implement the function")
NONZERO = ("TestStatus", "TestErrFatal")
SIGNALS = {132: "SIGILL", 134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 139: "SIGSEGV"}


@dataclass
class Verdict:
    status: str
    reason: str = ""


@dataclass
class Lines:
    """What a test printed."""

    no_errors: bool
    skipped: bool
    other: list


def read(output):
    lines = Lines(False, False, [])
    for line in output.splitlines():
        if re.fullmatch(r"\s*No [Ee]rrors\s*", line):
            lines.no_errors = True
        elif re.fullmatch(r"\s*Test Skipped\s*", line, re.IGNORECASE):
            lines.skipped = True
        elif line.strip() and not re.fullmatch(r"\s*Test Passed\s*", line):
            lines.other.append(line.strip())
    return lines


def first_words(lines):
    return lines.other[0][:160] if lines.other else "no output"


def status_words(status):
    return f"exit status {status}" + (f" ({SIGNALS[status]})" if status in SIGNALS else "")


def judge_output(rule, status, lines):
    """By the suite's rules alone: "" for a pass, otherwise what is wrong."""
    if rule in NONZERO:
        if any(NOT_IMPLEMENTED.search(line) for line in lines.other):
            return "ended by a function without implementation"
        return "" if status != 0 else "exit status 0, another one is wanted"
    if rule == "TestStatusNoErrors":
        if status == 0:
            return "exit status 0, another one is wanted"
        return "" if lines.no_errors else f"no line 'No Errors': {first_words(lines)}"
    if rule not in ("", "TestNormal"):
        return f"unknown rule {rule}"
    if lines.no_errors and status != 0:
        return f"{status_words(status)} after 'No Errors': {first_words(lines)}"
    if status != 0:
        return f"{status_words(status)}: {first_words(lines)}"
    if not lines.no_errors and not lines.skipped:
        return f"no line 'No Errors': {first_words(lines)}"
    if lines.other:
        return f"unexpected output: {first_words(lines)}"
    return ""


def explain(problem, output, used):
    """The reason of a failure: a function that is not implemented, if that explains it.

    `used` are the functions without implementation that the program calls by its symbol table. The library's own words
    come first: they name what was really called.
    """
    called = list(dict.fromkeys(NOT_IMPLEMENTED.findall(output)))
    if called:
        return "not implemented: " + ", ".join(called)
    if used:
        return f"not implemented (by its symbols): {', '.join(sorted(used))} ({problem})"
    return problem


def judge(test, ended, output, limit, used=()):
    """The Verdict for a Test that processes.run() has run with the time limit `limit`."""
    lines = read(output)
    if ended.flooded:
        problem = "too much output"
    elif ended.timed_out or (ended.status == 124 and ended.seconds >= limit):
        # A test of the launcher's own time limit is over when that limit is.
        own = test.verdict in NONZERO and test.limit and not ended.timed_out
        problem = "" if own else f"time limit: {limit:g} s"
    else:
        problem = judge_output(test.verdict, ended.status, lines)
    if problem:
        return Verdict(FAIL, explain(problem, output, used))
    if ended.left_behind:
        return Verdict(FAIL, f"{ended.left_behind} processes were still there when the launcher had ended")
    if lines.skipped and not lines.no_errors and test.verdict in ("", "TestNormal"):
        return Verdict(SKIP, "the program skips itself")
    return Verdict(PASS)


def build_problem(log):
    """The line of a build's output with the reason why a program does not compile."""
    found = re.search(r"^.*(?:error:|undefined reference|No rule to make).*$", log, re.MULTILINE)
    text = found.group(0) if found else (log.strip().splitlines() or ["no message"])[-1]
    return re.sub(r"^\S*/", "", text.strip())[:200]


def is_not_implemented(reason):
    return reason.startswith("not implemented")
