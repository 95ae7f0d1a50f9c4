#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds real programs with an installation of Patchbay MPI and runs their own tests: see README.md in this folder."""
import argparse
import fcntl
import fnmatch
import os
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "conformance"))

import apt_source  # noqa: E402
import processes  # noqa: E402
import progress  # noqa: E402
import report  # noqa: E402
import surroundings  # noqa: E402
from boost_mpi import BoostMpi  # noqa: E402
from hypre import Hypre  # noqa: E402
from lammps import Lammps  # noqa: E402
from p4est import P4est  # noqa: E402
from petsc import Petsc  # noqa: E402
from program import BuildError, Tree  # noqa: E402
from verdict import FAIL, PASS, SKIP  # noqa: E402

PROGRAMS = {program.name: program for program in (Hypre(), P4est(), BoostMpi(), Lammps(), Petsc())}


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="./dev programs", description="Builds real programs with Patchbay MPI and runs their own parallel tests."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a program; without any, all programs")
    parser.add_argument("--prefix", type=Path, help="the installation to test (./dev: the one it builds)")
    parser.add_argument("--list", action="store_true", help="print which programs there are")
    parser.add_argument("--tests", metavar="PATTERN", help="only the tests of this name; no result is kept")
    parser.add_argument("--smoke", action="store_true", help="a small part of the program, for CI; no result is kept")
    parser.add_argument("--excluded", action="store_true", help="also run the tests that are excluded")
    parser.add_argument("--mca", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                        help="a parameter for every test, as for mpirun; may be repeated; no result is kept")
    parser.add_argument("--page", type=Path, nargs="?", const=Path("docs/programs.md"), metavar="FILE",
                        help="write the page of all kept results (docs/programs.md); without a NAME nothing is run")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="compilers at a time (one per core)")
    parser.add_argument("--work", type=Path, default=surroundings.cache_folder("programs"), metavar="FOLDER",
                        help="where archives, builds and results are kept (%(default)s)")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in PROGRAMS:
            parser.error(f"there is no program {name}; there are {', '.join(PROGRAMS)}")
    if options.prefix is None and not options.list and (options.names or options.page is None):
        parser.error("--prefix is missing")
    return options


class Runner:
    def __init__(self, options, shown):
        self.options = options
        self.shown = shown
        self.archives = options.work / "archives"
        # What was not run as a whole is no result of the program.
        self.kept = not (options.tests or options.smoke or options.mca)

    def run(self, program):
        with open(self.options.work / f"{program.name}.lock", "w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                sys.exit(f"programs: another run uses {self.options.work} for {program.name}; --work names another folder")
            return self.run_locked(program)

    def run_locked(self, program):
        outcome = report.Outcome(program.name, "")
        try:
            self.shown.step(f"{program.name}: fetching the source package")
            self.archives.mkdir(parents=True, exist_ok=True)
            archive = apt_source.archive(self.archives, program.package)
            outcome.version = apt_source.version_of(archive, program.package)
            self.build_and_test(program, archive, outcome)
        except apt_source.CannotFetch as error:
            outcome.problem, outcome.missing = str(error), True
        except (BuildError, ValueError) as error:
            outcome.problem = str(error)
        if outcome.problem:
            self.shown.say(f"{'SKIPPED' if outcome.missing else 'FAILED'}: {program.name}: {outcome.problem}")
        if self.kept:
            report.save(outcome, self.options.work / "results")
        return outcome

    def build_and_test(self, program, archive, outcome):
        tree = Tree(self.options.work, program, outcome.version, self.options.prefix, self.options.jobs)
        tree.parameters = {f"PATCHBAY_MCA_{name}": value for name, value in self.options.mca}

        def unpack(target):
            apt_source.unpack(
                archive, target, program.part, lambda folder: apt_source.rename_functions(folder, program.renamed)
            )

        self.shown.step(f"{program.name}: building")
        begin = time.monotonic()
        if tree.open(unpack):
            program.build(tree)
            tree.close()
            outcome.build_seconds = round(time.monotonic() - begin, 1)
            self.shown.say(f"{program.name} {outcome.version}: built in {outcome.build_seconds:.0f} s")
        tests = program.chosen_tests(tree)
        if self.options.tests:
            tests = [test for test in tests if fnmatch.fnmatchcase(test.name, self.options.tests)]
        if not tests:
            raise ValueError("there is no such test")
        self.shown.begin(len(tests), 0)
        for test in tests:
            self.shown.step(f"{program.name}: {test.name}")
            result = self.run_test(tree, test)
            outcome.results.append(result)
            self.shown.result(result)

    def run_test(self, tree, test):
        if test.excluded and not self.options.excluded:
            return report.Result(test.name, SKIP, test.excluded)
        test.excluded = ""
        log = tree.log("test " + test.name)
        command = list(map(str, test.command))
        ended = processes.run(command, test.folder, tree.environment(), test.limit, log)
        judged = test.verdict(ended, log.read_text(errors="replace"))
        if judged.status == PASS:
            log.unlink()
        elif judged.status == FAIL:
            judged.reason += f" (log: {log.relative_to(self.options.work)})" if self.options.tests else ""
        return report.Result(test.name, judged.status, judged.reason, round(ended.seconds, 2))


def finish(outcomes):
    """Prints the outcome; returns the exit status."""
    for outcome in outcomes:
        for status, word in ((SKIP, "SKIPPED"), (FAIL, "FAILED")):
            for result in outcome.results:
                if result.status == status:
                    print(f"{word}: {outcome.program}: {result.name}: {result.reason}")
    print("\n".join(["", *report.table(outcomes), "", report.last_line(outcomes)]), flush=True)
    # On a developer's machine without network there is nothing to judge; CI must not pass without having judged.
    missing = surroundings.is_ci() and any(outcome.missing for outcome in outcomes)
    return 1 if missing or any(outcome.failed for outcome in outcomes) else 0


def write_page(options):
    """Programs without a kept result are named as such: a page of them all would take hours otherwise."""
    outcomes = [
        report.load(name, options.work / "results") or report.Outcome(name, "", problem="it has not been run", missing=True)
        for name in PROGRAMS
    ]
    if not any(outcome.results for outcome in outcomes):
        sys.exit("programs: there is no kept result")
    options.page.write_text(report.page(list(PROGRAMS.values()), outcomes))


def interrupted(*_):
    raise KeyboardInterrupt


def run(options):
    chosen = [PROGRAMS[name] for name in options.names or PROGRAMS]
    if options.smoke:
        chosen = [program.smoke() for program in chosen if program.smoke() is not None]
    status = 0
    if options.names or options.page is None:
        shown = progress.Progress()
        runner = Runner(options, shown)
        try:
            outcomes = [runner.run(program) for program in chosen]
        finally:
            shown.clear()
        status = finish(outcomes)
    if options.page is not None:
        write_page(options)
    return status


def main(arguments):
    options = parse_arguments(arguments)
    if options.list:
        for program in PROGRAMS.values():
            print(f"{program.name:10} {program.about}")
        return 0
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.prefix is not None:
        options.prefix = options.prefix.resolve()
        if not (options.prefix / "bin/mpicc").exists():
            sys.exit(f"programs: {options.prefix} is no installation: it has no bin/mpicc")
    processes.become_subreaper()
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, interrupted)
    try:
        return run(options)
    except KeyboardInterrupt:
        return 130
    finally:
        processes.end_descendants()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
