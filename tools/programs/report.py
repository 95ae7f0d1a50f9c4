# SPDX-License-Identifier: BSD-3-Clause
"""What a run of the programs leaves: a file for each program, the table, and docs/programs.md."""
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from verdict import FAIL, PASS, SKIP


@dataclass
class Result:
    name: str
    status: str
    reason: str = ""
    seconds: float = 0.0
    folder: str = ""  # for tools/conformance/progress.py, which prints results


@dataclass
class Outcome:
    """What came of one program."""

    program: str
    version: str
    build_seconds: float = 0.0  # 0 where an earlier run had built it
    problem: str = ""  # why there are no results
    missing: bool = False  # the problem is that its source cannot be fetched
    results: list = field(default_factory=list)

    def count(self, status):
        return sum(result.status == status for result in self.results)

    @property
    def failed(self):
        return self.count(FAIL) + (1 if self.problem and not self.missing else 0)

    @property
    def seconds(self):
        return sum(result.seconds for result in self.results)


def save(outcome, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{outcome.program}.json").write_text(json.dumps(asdict(outcome), indent=1) + "\n")


def load(name, folder):
    """The kept outcome of a program, None where there is none."""
    path = Path(folder) / f"{name}.json"
    if not path.exists():
        return None
    entry = json.loads(path.read_text())
    entry["results"] = [Result(**result) for result in entry["results"]]
    return Outcome(**entry)


HEADINGS = ("program", "version", "tests", "passed", "failed", "excluded", "seconds")


def row(outcome):
    if outcome.missing:
        return (outcome.program, outcome.version, *["not run"] * (len(HEADINGS) - 2))
    counts = (len(outcome.results), outcome.count(PASS), outcome.failed, outcome.count(SKIP), round(outcome.seconds))
    return (outcome.program, outcome.version, *map(str, counts))


def rows(outcomes):
    return [row(outcome) for outcome in outcomes]


def table(outcomes):
    """Lines for a terminal."""
    lines = [HEADINGS, *rows(outcomes)]
    widths = [max(len(row[column]) for row in lines) for column in range(len(HEADINGS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in lines]


def last_line(outcomes):
    passed = sum(outcome.count(PASS) for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    skipped = sum(outcome.count(SKIP) + outcome.missing for outcome in outcomes)
    return f"{passed} passed, {failed} failed, {skipped} skipped"


INTRODUCTION = """# Real programs

Written by `./dev programs --page`; do not edit. Real programs, built unmodified with Patchbay's `mpicc` and `mpicxx`, run
their own parallel tests:

```console
./dev programs                 # all of them: this takes more than an hour on two cores
./dev programs hypre p4est     # these
./dev programs --list          # which there are
./dev programs p4est --tests 'p8est_*'
```

The sources are the upstream archives of Debian's source packages, which apt fetches and checks. Archives, builds and results
are kept in `~/.cache/patchbay/programs` (`--work` names another folder); a build is used again with another library that has
the same `mpi.h`. `--prefix PREFIX` tests an installation instead of building one. If apt does not provide a source package,
the program is skipped by name; with `CI=true` in the environment this is an error.

A test fails if its own rule says so, if it exceeds its time limit, or if it leaves a process behind.
"""


def page(programs, outcomes):
    """The text of docs/programs.md."""
    lines = [INTRODUCTION, "| " + " | ".join(HEADINGS) + " |"]
    lines.append("| --- | --- |" + " ---: |" * (len(HEADINGS) - 2))
    lines += ["| " + " | ".join(row) + " |" for row in rows(outcomes)]
    for program, outcome in zip(programs, outcomes):
        lines += ["", f"## {program.name}", "", f"{program.about}. Its tests: {program.tested}."]
        for note in program.notes:
            lines += ["", note]
        if program.renamed:
            changed = sorted({f"`{old}` is `{new}`" for names in program.renamed.values() for old, new in names.items()})
            lines += ["", "Names that MPI-3.0 removed, or that the standard ABI does not have, are replaced: " + ", ".join(changed) + "."]
        if outcome.problem:
            lines += ["", f"No result: {outcome.problem}."]
        lines += reasons("Excluded", outcome, SKIP) + reasons("Failed", outcome, FAIL)
    return "\n".join(lines) + "\n"


def reasons(heading, outcome, status):
    """The tests of that status, grouped by reason."""
    by_reason = {}
    for result in outcome.results:
        if result.status == status:
            by_reason.setdefault(result.reason, []).append(result.name)
    lines = []
    for reason, names in by_reason.items():
        lines.append(f"- {reason}: " + ", ".join(f"`{name}`" for name in names))
    return ["", f"{heading}:", "", *lines] if lines else []
