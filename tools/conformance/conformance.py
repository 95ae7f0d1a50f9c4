#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds MPICH's test suite against an installation of Patchbay MPI and runs it: see README.md in this folder."""
import argparse
import fcntl
import hashlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import build_tree
import configurations
import processes
import progress
import record
import sanitizer
import source_package
import surroundings
import test_list
import verdict

HERE = Path(__file__).resolve().parent
TIME_LIMIT = 120
SUBSET_PARTS = 5


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="./dev conformance", description="Runs MPICH's test suite against an installation of Patchbay MPI."
    )
    parser.add_argument("what", nargs="*", metavar="FOLDER", help="a folder of the suite, a folder in it, or "
                        "FOLDER/PROGRAM; without any, all folders")
    parser.add_argument("--prefix", required=True, type=Path,
                        help="the installation to test (./dev: the one it builds)")
    parser.add_argument("--subset", action="store_true", help="only the tests of tools/conformance/subset.txt")
    parser.add_argument("--resume", action="store_true", help="go on with the last run: keep its results")
    parser.add_argument("--excluded", action="store_true", help="also run what exclusions.txt excludes")
    parser.add_argument("--timeout", type=float, default=TIME_LIMIT, metavar="SECONDS",
                        help=f"time limit of each test ({TIME_LIMIT})")
    parser.add_argument("--configuration", action="append", default=[], metavar="NAME",
                        help="one of " + ", ".join(one.name for one in configurations.CONFIGURATIONS) + ", or all; "
                        "may be repeated")
    parser.add_argument("--part", type=int, metavar="N",
                        help="which part of the tests a configuration runs that does not run all: 0 (default), 1, ...; "
                        f"with --subset, a part of it ({SUBSET_PARTS} parts) instead of the whole (./dev: auto, another "
                        "one with each commit)")
    parser.add_argument("--mca", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                        help="a parameter for every test, as for mpirun; may be repeated")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="compilers at a time (one per core)")
    parser.add_argument("--work", type=Path, default=surroundings.cache_folder("conformance"), metavar="FOLDER",
                        help="where the source, the builds and the results are kept (%(default)s)")
    options = parser.parse_args(arguments)
    if options.subset and options.what:
        parser.error("--subset names its tests itself")
    try:
        options.configurations = configurations.named(options.configuration or [configurations.DEFAULT.name])
    except ValueError as error:
        parser.error(str(error))
    return options


def identity(prefix, configuration, mca):
    """Identifies one library and its parameters, so that a resumed run does not mix their results."""
    digest = hashlib.sha256(repr((configuration, mca)).encode())
    libraries = sorted(path for path in (prefix / "lib").rglob("*") if path.is_file())
    for path in [*libraries, prefix / "bin/mpirun"]:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def unimplemented_functions(prefix, variables):
    command = [prefix / "bin/patchbay-info", "--unimplemented"]
    environment = {**os.environ, **variables}
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout
    return frozenset(printed.split())


def check_build(options):
    """A library with the sanitizer would not run otherwise, and one without it would prove nothing."""
    has = sanitizer.is_sanitized(options.prefix)
    for configuration in options.configurations:
        if configuration.sanitizer != has:
            sys.exit(f"conformance: {options.prefix} was {'' if has else 'not '}built with the address sanitizer, and "
                     f"configuration {configuration.name} is for one that was{' not' if has else ''}")


def suffix(configuration):
    """Of the files with the results of a configuration."""
    return "" if configuration == configurations.DEFAULT else f"-{configuration.name}"


def available_gigabytes():
    found = re.search(r"^MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return int(found.group(1)) / (1 << 20) if found else 0.0


class Runner:
    def __init__(self, options, configuration, tree, results, shown):
        self.options = options
        of_sanitizer = sanitizer.PARAMETERS if configuration.sanitizer else ()
        self.parameters = [*configuration.parameters, *of_sanitizer, *options.mca]
        self.tree = tree
        self.results = results
        self.shown = shown
        self.logs = results.path.parent / ("logs" + suffix(configuration))
        self.logs.mkdir(exist_ok=True)
        # The files to which the sanitizers write during a test begin with this name; None: there is no sanitizer.
        self.reports = self.logs / "sanitizer" if configuration.sanitizer else None
        self.variables = {
            **configuration.environment,
            **(sanitizer.variables(self.reports) if self.reports else {}),
        }
        self.unimplemented = unimplemented_functions(options.prefix, self.variables)

    def run_all(self, tests):
        """Runs folder by folder: each is built just before."""
        real = [test for test in tests if isinstance(test, test_list.Test)]
        waiting = [test for test in real if test.name not in self.results.results]
        self.shown.begin(len(real), len(real) - len(waiting))
        for folder in dict.fromkeys(test.folder for test in waiting):
            self.shown.step(f"{folder}: building")
            for needed in tests:
                if isinstance(needed, test_list.Prerequisite) and needed.folder.split("/")[0] == folder.split("/")[0]:
                    self.tree.make(needed.folder, [needed.target], "needed")
            self.run_folder([test for test in waiting if test.folder == folder])

    def run_folder(self, tests):
        problems = self.tree.build([test for test in tests if not self.reason_to_skip(test)])
        for test in tests:
            self.shown.step(test.name)
            result = self.result_of(test, problems)
            self.results.add(result)
            self.shown.result(result)

    def reason_to_skip(self, test):
        if test.skip:
            return test.skip
        if test.gigabytes > available_gigabytes():
            return f"the test wants {test.gigabytes:g} GB of memory"
        return ""

    def result_of(self, test, problems):
        skip = self.reason_to_skip(test)
        if skip:
            return record.Result(test.name, test.folder, verdict.SKIP, skip)
        if test.path in problems:
            return record.Result(test.name, test.folder, verdict.NO_BUILD, problems[test.path])
        return self.run_test(test)

    def run_test(self, test):
        # The suite has tests of the launcher's own time limit.
        limit = test.limit if test.limit and test.verdict in verdict.NONZERO else self.options.timeout
        log = self.logs / (re.sub(r"[^\w.=-]", "_", test.name)[:150] + ".log")
        command = [str(self.options.prefix / "bin/mpirun"), "-n", str(test.ranks)]
        for name, value in self.parameters:
            command += ["--mca", name, value]
        command += [f"./{test.program}", *test.arguments]
        environment = {
            **self.tree.environment(),
            **self.variables,
            **test.environment,
            "MPIEXEC_TIMEOUT": f"{limit:g}",
        }
        if self.reports:
            sanitizer.take_reports(self.reports)
        # The launcher ends a test in time by itself; the limit of this process is for a launcher that does not.
        ended = processes.run(command, self.tree.folder / test.folder, environment, limit + 10, log)
        output = log.read_text(errors="replace")
        used = self.unimplemented & self.tree.symbols_used(test)
        found = None
        if self.reports:
            output, has_unfreed = sanitizer.without_unfreed(output)
            found = self.found_by_sanitizer(log, has_unfreed)
        judged = found or verdict.judge(test, ended, output, limit, used)
        if judged.status == verdict.PASS:
            log.unlink()
        return record.Result(
            test.name,
            test.folder,
            judged.status,
            judged.reason,
            round(ended.seconds, 2),
            log.name if judged.status == verdict.FAIL else "",
        )

    def found_by_sanitizer(self, log, has_unfreed):
        """A Verdict with the first thing that is wrong in the library; the reports of a test stand in its log."""
        texts = sanitizer.take_reports(self.reports)
        findings = sanitizer.findings(texts, self.options.prefix, has_unfreed)
        with open(log, "a", encoding="utf-8") as file:
            file.write("\n".join(["", *findings, *texts]) if texts else "")
        if not findings:
            return None
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        return verdict.Verdict(verdict.FAIL, f"sanitizer: {findings[0]}{more}")


def chosen_tests(options, tree, shown):
    """What to run, with what is excluded marked as skipped."""
    lists = test_list.Lists(tree.folder, tree.source)
    if options.subset:
        names = test_list.read_subset(HERE / "subset.txt")
        folders = list(dict.fromkeys(name.split("/")[0] for name in names))
        every = test_list.select(lists, folders)
        needed = [test for test in every if isinstance(test, test_list.Prerequisite)]
        return needed + test_list.pick([test for test in every if isinstance(test, test_list.Test)], names)
    tests = test_list.select(lists, options.what or lists.folders())
    real = [test for test in tests if isinstance(test, test_list.Test)]
    if not options.excluded:
        unused = test_list.exclude(real, test_list.read_patterns(HERE / "exclusions.txt"))
        if unused and not options.what:
            shown.say("exclusions.txt names tests that the suite does not have: " + ", ".join(unused))
    return tests


def is_failure(result):
    return result.status in (verdict.FAIL, verdict.NO_BUILD)


def report(results, path):
    """Prints the outcome of one configuration, and writes it to a file."""
    lines = [*record.listing(results), "", *record.table(results), "", record.last_line(results)]
    path.write_text("\n".join(lines) + "\n")
    print("\n".join(lines), flush=True)


def cannot_fetch(error):
    """On a developer's machine without network there is nothing to judge; CI must not pass without having judged."""
    if surroundings.is_ci():
        print(f"FAILED: conformance: {error}\n0 passed, 1 failed, 0 skipped")
        return 1
    print(f"SKIPPED: conformance: {error}\n0 passed, 0 failed, 1 skipped")
    return 0


def interrupted(*_):
    raise KeyboardInterrupt


def run(options):
    shown = progress.Progress()
    shown.step("fetching the source package")
    try:
        source, version = source_package.fetch(options.work)
    except source_package.CannotFetch as error:
        shown.clear()
        return cannot_fetch(error)
    tree = build_tree.BuildTree(options.work, source, version, options.prefix, options.jobs)
    if not tree.is_configured:
        shown.say(f"configuring the test suite of MPICH {version}: this takes a minute")
    tree.open()
    outcomes = {}
    for configuration in options.configurations:
        if len(options.configurations) > 1:
            print(f"configuration {configuration.name}: {configuration.about}", flush=True)
        results = run_configuration(options, configuration, tree, shown)
        if results is None:
            return 130
        outcomes[configuration.name] = results
        report(results, options.work / "results" / f"report{suffix(configuration)}.txt")
    if len(outcomes) > 1:
        print("", *record.table_of(outcomes, "configuration"), "", sep="\n")
        print(record.last_line([result for results in outcomes.values() for result in results]), flush=True)
    return 1 if any(is_failure(result) for results in outcomes.values() for result in results) else 0


def run_configuration(options, configuration, tree, shown):
    """The results of all tests; None: the run was interrupted."""
    tests = chosen_tests(options, tree, shown)
    real = [test for test in tests if isinstance(test, test_list.Test)]
    every = configuration.every
    if options.subset and options.part is not None:
        every = max(every, SUBSET_PARTS)
    if every > 1:
        real = real[(options.part or 0) % every :: every]
        tests = [test for test in tests if isinstance(test, test_list.Prerequisite)] + real
    path = options.work / "results" / f"results{suffix(configuration)}.jsonl"
    results = record.Record(path, identity(options.prefix, configuration, options.mca), options.resume)
    if options.resume and not results.resumed:
        shown.say("there are no results of this library to go on with: starting anew")
    try:
        Runner(options, configuration, tree, results, shown).run_all(tests)
    except KeyboardInterrupt:
        shown.say("interrupted; ./dev conformance --resume with the same words goes on")
        return None
    finally:
        results.close()
        shown.clear()
    return [results.results[test.name] for test in real]


def main(arguments):
    options = parse_arguments(arguments)
    options.prefix = options.prefix.resolve()
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    if not (options.prefix / "bin/mpicc").exists():
        sys.exit(f"conformance: {options.prefix} is no installation: it has no bin/mpicc")
    check_build(options)
    processes.become_subreaper()
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, interrupted)
    with open(options.work / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit(f"conformance: another run uses {options.work}; --work names another folder")
        try:
            return run(options)
        except KeyboardInterrupt:
            return 130
        except (build_tree.BuildError, ValueError) as error:
            sys.exit(f"conformance: {error}")
        finally:
            processes.end_descendants()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
