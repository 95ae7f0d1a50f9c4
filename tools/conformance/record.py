# SPDX-License-Identifier: BSD-3-Clause
"""The record of a run, which lets an interrupted run go on, and what is printed of it."""
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import verdict


@dataclass
class Result:
    name: str
    folder: str
    status: str
    reason: str = ""
    seconds: float = 0.0
    log: str = ""


class Record:
    """The results of one run, each written to the file as soon as it is there.

    The first line contains which library was tested: results of another one are never mixed in.
    """

    def __init__(self, path, library, resume):
        self.path = Path(path)
        self.results = {}
        self.resumed = resume and self._read(library)
        if not self.resumed:
            self.results = {}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps({"library": library}) + "\n")
        self._file = open(self.path, "a", encoding="utf-8")

    def _read(self, library):
        """False where there is no record of this library."""
        try:
            lines = self.path.read_text().splitlines()
        except OSError:
            return False
        entries = []
        for line in lines:
            try:
                entries.append(json.loads(line))
            except ValueError:
                pass  # the line that was being written when the run was interrupted
        if not entries or entries[0] != {"library": library}:
            return False
        for entry in entries[1:]:
            result = Result(**entry)
            self.results[result.name] = result
        # A line without end must not swallow the next one.
        whole = [json.dumps({"library": library})] + [json.dumps(asdict(result)) for result in self.results.values()]
        self.path.write_text("\n".join(whole) + "\n")
        return True

    def add(self, result):
        self.results[result.name] = result
        self._file.write(json.dumps(asdict(result)) + "\n")
        self._file.flush()

    def close(self):
        self._file.close()


HEADINGS = ("pass", "fail", "of these not implemented", "skipped", "not compiling", "seconds")


def counts(results):
    """The numbers of one line of the table."""
    failed = [result for result in results if result.status == verdict.FAIL]
    return (
        sum(result.status == verdict.PASS for result in results),
        len(failed),
        sum(verdict.is_not_implemented(result.reason) for result in failed),
        sum(result.status == verdict.SKIP for result in results),
        sum(result.status == verdict.NO_BUILD for result in results),
        round(sum(result.seconds for result in results)),
    )


def table(results):
    """The results by folder, as lines of text."""
    folders = {}
    for result in results:
        folders.setdefault(result.folder.split("/")[0], []).append(result)
    return table_of(folders, "folder")


def table_of(groups, heading):
    """{name: results} as lines of text, with a line for all of them where there are several."""
    rows = [(heading, *HEADINGS)] + [(name, *counts(group)) for name, group in groups.items()]
    if len(groups) > 1:
        rows.append(("all", *counts([result for group in groups.values() for result in group])))
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [str(row[0]).ljust(widths[0])]
        cells += [str(cell).rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return lines


def listing(results):
    """What did not pass, by name and with the reason."""
    lines = []
    for word, status in (("SKIPPED", verdict.SKIP), ("NOT COMPILING", verdict.NO_BUILD), ("FAILED", verdict.FAIL)):
        chosen = [result for result in results if result.status == status]
        # Failures that only lack a function are first, so that the other failures are together at the end.
        chosen.sort(key=lambda result: not verdict.is_not_implemented(result.reason))
        lines += [f"{word}: {result.name}: {result.reason}" for result in chosen]
    return lines


def last_line(results):
    passed, failed, _, skipped, not_compiling, _ = counts(results)
    return f"{passed} passed, {failed + not_compiling} failed, {skipped} skipped"
