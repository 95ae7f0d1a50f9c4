# SPDX-License-Identifier: BSD-3-Clause
"""Reads the suite's `testlist` files, the exclusions and the subset.

A line of a testlist is `PROGRAM [RANKS [KEY=VALUE]...]`, the name of a folder with a testlist of its own, or
`!FOLDER:TARGET`, a target that has to be made first.
"""
import fnmatch
import re
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_RANKS = 2
# Tests of MPICH itself: the algorithms, variables and extensions that only MPICH has.
FOREIGN_FOLDERS = ("impls",)


@dataclass
class Test:
    folder: str
    program: str
    ranks: int = DEFAULT_RANKS
    arguments: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    verdict: str = ""  # the line's resultTest: how the suite judges the test
    limit: int = 0  # the line's own time limit in seconds
    gigabytes: float = 0.0
    skip: str = ""  # why the test is not run

    @property
    def path(self):
        return f"{self.folder}/{self.program}"

    @property
    def top(self):
        return self.folder.split("/")[0]

    @property
    def name(self):
        """Says which test this is, to people and in the record of results."""
        words = [self.path, f"-n {self.ranks}", *self.arguments]
        words += [f"{key}={value}" for key, value in sorted(self.environment.items())]
        return " ".join(words)


@dataclass
class Prerequisite:
    folder: str
    target: str


def parse_line(line, folder):
    """A Test, or None for an empty line."""
    words = line.split("#")[0].split()
    if not words:
        return None
    place, _, program = words[0].rpartition("/")
    test = Test(f"{folder}/{place}" if place else folder, program)
    if len(words) > 1 and words[1].isdigit():
        test.ranks = int(words[1])
    for word in words[2:]:
        key, _, value = word.partition("=")
        if key == "arg":
            test.arguments.append(value)
        elif key == "env":
            name, _, content = value.partition("=")
            test.environment[name] = content
        elif key == "resultTest":
            test.verdict = value
        elif key == "timeLimit":
            test.limit = int(value)
        elif key == "mem":
            test.gigabytes = float(value)
        elif key == "xfail":
            test.skip = f"the suite expects a failure ({value})"
        elif key == "mpiexecarg":
            test.skip = f"the test wants an option of MPICH's launcher ({value})"
    return test


class Lists:
    """The test lists of a configured tree: configure writes some, the others stand in the source tree."""

    def __init__(self, build, source):
        self.build = Path(build)
        self.source = Path(source)

    def lines(self, folder):
        for base in (self.build, self.source):
            path = base / folder / "testlist"
            if path.is_file() and path.stat().st_size > 0:
                return path.read_text(errors="replace").splitlines()
        return []

    def folders(self):
        """The folders that the suite itself runs on this configuration."""
        names = [line.split("#")[0].split() for line in self.lines("")]
        return [words[0] for words in names if words and words[0] not in FOREIGN_FOLDERS]

    def tests(self, folder):
        """The Tests and Prerequisites of `folder`, those of the folders below it included."""
        found = []
        for line in self.lines(folder):
            needed = re.match(r"\s*!([^:]*):(\S+)", line)
            if needed:
                found.append(Prerequisite(str(Path(folder) / needed.group(1)), needed.group(2)))
                continue
            test = parse_line(line, folder)
            if test is None:
                continue
            below = f"{test.folder}/{test.program}"
            if (self.source / below).is_dir():
                found += self.tests(below)
            else:
                found.append(test)
        return found


def select(lists, wanted):
    """The tests of the `wanted` folders, folders below them, or programs (`folder/program`). ValueError for others."""
    found, seen = [], set()
    for name in wanted:
        name = name.strip("/")
        top = name.split("/")[0]
        chosen = [
            test
            for test in lists.tests(top)
            if isinstance(test, Prerequisite)
            or name in (top, test.path)
            or f"{test.folder}/".startswith(name + "/")
        ]
        if not any(isinstance(test, Test) for test in chosen) and name not in lists.folders():
            raise ValueError(f"the suite has no folder or program {name}")
        for test in chosen:
            key = test.name if isinstance(test, Test) else (test.folder, test.target)
            if key not in seen:
                seen.add(key)
                found.append(test)
    return found


def read_patterns(path):
    """The lines `PATTERN  reason` of a file as [(pattern, reason)]; ValueError for a line without reason."""
    patterns = []
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            pattern, _, reason = line.strip().partition(" ")
            if not reason.strip():
                raise ValueError(f"{path}:{number}: no reason is given for {pattern}")
            patterns.append((pattern, reason.strip()))
    return patterns


def exclude(tests, patterns):
    """Marks the excluded tests. Returns the patterns that match no test of the folders at hand."""
    unused = []
    tops = {test.top for test in tests}
    for pattern, reason in patterns:
        matching = [test for test in tests if fnmatch.fnmatchcase(test.path, pattern)]
        for test in matching:
            test.skip = test.skip or reason
        if not matching and pattern.split("/")[0] in tops:
            unused.append(pattern)
    return unused


def read_subset(path):
    """The names of the tests in a subset file, one per line."""
    lines = (line.split("#")[0].strip() for line in Path(path).read_text().splitlines())
    return [line for line in lines if line]


def pick(tests, names):
    """The tests with these names; ValueError where the suite has no such test."""
    by_name = {test.name: test for test in tests}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise ValueError("the suite has no test " + ", ".join(missing))
    return [by_name[name] for name in names]
