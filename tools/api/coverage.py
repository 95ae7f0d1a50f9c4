#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which functions of mpi.h and mpix.h are implemented, and which tests call them: docs/coverage.md.

usage: coverage.py [--root DIRECTORY]           print the page
       coverage.py [--root DIRECTORY] --check   fail when docs/coverage.md is not that page, or when no test calls an
                                                implemented function

A test calls a function where a C or C++ source under tests/ has the function's name before a parenthesis, outside
comments, texts and the function's own definition, or in a table through which the same source calls. A source that the BUILD file of its folder does not name is built
into no test and does not count.
"""

import argparse
import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import generate_bindings  # pylint: disable=wrong-import-position

HEADERS = ["include/mpi.h", "include/mpix.h"]
SOURCES = "mpi/api"
PAGE = "docs/coverage.md"
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
# What stands before the name where a function is declared or defined: a type and nothing else.
DECLARATOR = re.compile(r"\s*(?:(?:static|extern|inline|const|unsigned)\s+)*(?!return\b|else\b|do\b)\w+[\s*]+$")
# The begin of an array with its elements, also of pointers to functions; and what follows where one of them is called.
TABLE = re.compile(r"\b(\w+)(?:\[[^\]]*\])+(?:\)\([^()]*\))?\s*=\s*\{")
CALL_THROUGH = r"(?:\[[^\]]*\])+(?:\.\w+)?\("
# So many tests are named for each function; the page would change with each new test otherwise.
NAMED = 3

Coverage = collections.namedtuple("Coverage", "names implemented callers")


def called_functions(text):
    """The names of the MPI functions that a source calls."""
    text = TEXT.sub('""', generate_bindings.without_comments(text))
    names = set()
    for line in text.splitlines():
        for match in re.finditer(r"\b(MPIX?_\w+)\s*\(", line):
            if not DECLARATOR.fullmatch(line[:match.start()]):
                names.add(match[1])
    for table in TABLE.finditer(text):
        if re.search(rf"\b{table[1]}{CALL_THROUGH}", text):
            names.update(re.findall(r"\bMPIX?_\w+", text[table.end():text.find("};", table.end())]))
    return names


def is_built(source):
    """Whether the nearest BUILD file names the source, in full or without its ending or its _test."""
    for folder in source.parents:
        build = folder / "BUILD"
        if build.exists():
            stem = source.stem
            words = {source.name, stem, stem[:-len("_test")] if stem.endswith("_test") else stem}
            text = build.read_text(encoding="utf-8")
            return any(re.search(r'(?<![\w.])' + re.escape(word) + r'(?![\w.])', text) for word in words)
    return False


def measure(root):
    """The coverage of the source tree at `root`."""
    prototypes = generate_bindings.read_prototypes([str(root / header) for header in HEADERS])
    sources = sorted((root / SOURCES).glob("*.cpp"))
    implemented = {name for source in sources for name in generate_bindings.read_definitions(str(source), prototypes)}
    callers = collections.defaultdict(list)
    tests = root / "tests"
    for source in sorted(path for path in tests.rglob("*") if path.suffix in (".c", ".cpp", ".h")):
        if is_built(source):
            for name in called_functions(source.read_text(encoding="utf-8")):
                callers[name].append(str(source.relative_to(tests)))
    return Coverage(sorted(prototypes), implemented, callers)


def page(coverage):
    """The lines of docs/coverage.md."""
    yield "# Coverage"
    yield ""
    yield "`./dev coverage` writes this page. It lists the functions of `mpi.h` and `mpix.h`, says which of them this"
    yield f"version implements, and names tests that call them: at most {NAMED} for each function. A function that is"
    yield "not implemented returns `MPI_ERR_UNSUPPORTED_OPERATION`; `tests/abi/unimplemented_test.cpp` calls them all."
    yield ""
    yield f"{len(coverage.implemented)} of {len(coverage.names)} functions are implemented."
    yield ""
    yield "| function | implemented | tests |"
    yield "| --- | --- | --- |"
    for name in coverage.names:
        if name in coverage.implemented:
            callers = coverage.callers.get(name, [])
            named = ", ".join(callers[:NAMED]) + (", ..." if len(callers) > NAMED else "")
            yield f"| {name} | yes | {named} |"
        else:
            yield f"| {name} | no | |"


def check(root, coverage):
    """What is wrong, as lines of text."""
    for name in sorted(coverage.implemented):
        if not coverage.callers.get(name):
            yield f"{name} is implemented, but no test calls it"
    wanted = "\n".join(page(coverage)) + "\n"
    path = root / PAGE
    if not path.exists() or path.read_text(encoding="utf-8") != wanted:
        yield f"{PAGE} is not up to date: run ./dev coverage"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    coverage = measure(options.root)
    if not options.check:
        print("\n".join(page(coverage)))
        return 0
    problems = list(check(options.root, coverage))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
