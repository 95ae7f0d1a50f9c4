#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the behaviour tests of a framework over one component: a file mca_<framework>_<component>.so, built outside the
source tree of Patchbay MPI or within it.

The test programs are installed as sources; each is built once with mpicc or mpicxx and runs with the numbers of ranks
that the suite states. A program passes when it ends with status 0. The component must have been used by at least one
run. Compile the component with -g, and repeat a failed run with the command that is printed."""
import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
PREFIX = os.environ.get("PATCHBAY_PREFIX") or os.path.dirname(HERE)
SUITE = os.path.join(PREFIX, "share", "patchbay", "plugin-tests")
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "ab")] + [
    os.path.join(prefix, "share", "patchbay", "ab") for prefix in (os.path.dirname(HERE), PREFIX)]
import own_session  # noqa: E402  (found through the line above)

# A row of the tables that --explain prints, and a row of the table of parameters that it prints.
EXPLANATION = re.compile(r"\w+ .*  (chosen|lost|declined|excluded|incompatible|wraps) +[\d-]+  "
                         r"|framework +for +candidate +outcome |parameter +value +default +set by$")
FILE_NAME = re.compile(r"mca_([^_]+)_(.+)\.so")
WRAPPED = ("btl", "coll", "pml")  # the frameworks that have a parameter <framework>_wrap
UNKNOWN_PARAMETER = re.compile(r"warning: (unknown parameter (\w+).*)")


class Problem(Exception):
    """An error that the user can correct; its text contains the remedy."""


def program(name):
    return os.path.join(PREFIX, "bin", name)


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          check=False)
    if done.returncode != 0:
        raise Problem(f"{shlex.join(command)} ended with status {done.returncode}:\n{done.stderr.rstrip()}")
    return done.stdout


class Component:
    """The component under test, alone in a directory of its own."""

    def __init__(self, file, folder):
        found = FILE_NAME.fullmatch(os.path.basename(file))
        if not found:
            raise Problem(f"{file}: the name of a component's file is mca_<framework>_<component>.so")
        if not os.path.isfile(file):
            raise Problem(f"{file}: {'it is no regular file' if os.path.lexists(file) else 'no such file'}")
        self.file = file
        self.framework, self.name = found.groups()
        # Libraries beside the file, which it finds by $ORIGIN, are found by its copy, too.
        paths = [os.path.dirname(os.path.realpath(file)), os.environ.get("LD_LIBRARY_PATH")]
        os.environ["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
        self.folder = os.path.join(folder, "component")
        os.mkdir(self.folder)
        try:
            shutil.copy(file, self.folder)
        except OSError as error:
            raise Problem(f"{file}: {error.strerror}") from error
        self.check()

    def check(self):
        """That the library would use it; the library's own text says why not."""
        info = json.loads(output_of(program("patchbay-info"), "--json", "--components", "--mca", "component_path",
                                    self.folder))
        for entry in info["components"]:
            if os.path.dirname(entry["file"]) == self.folder:
                if entry["status"] == "incompatible":  # the reason names the copy
                    raise Problem(entry["reason"].replace(entry["file"], self.file))
                return
        raise Problem(f"the library does not find {self.framework}/{self.name}: a component of this name is linked into it")

    def parameters(self, suite, wrap):
        """(name, value) pairs that make the runs use the component."""
        if wrap:
            if self.framework not in WRAPPED:
                raise Problem(f"--wrap: components of framework {self.framework} wrap no others; those of "
                              f"{', '.join(WRAPPED)} may")
            chosen = [[f"{self.framework}_wrap", self.name]]
        else:
            names = output_of(program("patchbay-info"), "--mca", "component_path", self.folder, "--names").split()
            chosen = [[name.format(self.name), value.format(self.name)] for name, value in suite["parameters"]]
            chosen = [pair for pair in chosen if pair[0] in names]
        return [["component_path", self.folder]] + chosen

    def used(self, errors, wrap):
        """Whether the table of --explain says that the run used it."""
        outcome = "wraps" if wrap else "chosen"
        return re.search(rf"^{self.framework} .*  {re.escape(self.name)} +{outcome} ", errors, re.MULTILINE) is not None

    def reasons(self, errors):
        """Why it was not used: outcome and reason of its rows, without those that say the same."""
        rows = re.findall(rf"^{self.framework} .*  {re.escape(self.name)} +(lost|declined|excluded|incompatible) +[\d-]+ +(.*)$",
                          errors, re.MULTILINE)
        return list(dict.fromkeys(f"{outcome}: {reason}" for outcome, reason in rows))


def read_suite(framework):
    path = os.path.join(SUITE, "suite.json")
    try:
        with open(path, encoding="utf-8") as file:
            suites = json.load(file)
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}: is {PREFIX} an installed Patchbay?") from error
    if framework not in suites:
        raise Problem(f"there are no tests for framework {framework}; there are for: {', '.join(sorted(suites))}")
    return suites[framework]


def title_of(case):
    """What the lines call it: its first source, its definitions, and its arguments."""
    return " ".join([os.path.splitext(case["sources"][0])[0], *case.get("defines", []), *case.get("arguments", [])])


def build(case, folder):
    """The binary of one program; a program that runs with several arguments is built once."""
    sources, defines = case["sources"], case.get("defines", [])
    binary = os.path.join(folder, "_".join([os.path.splitext(sources[0])[0].replace("/", "_"), *defines]))
    if not os.path.exists(binary):
        compiler, standard = ("mpicc", "gnu11") if sources[0].endswith(".c") else ("mpicxx", "gnu++20")
        output_of(program(compiler), "-O1", "-g", "-std=" + standard, "-I", SUITE, *["-D" + define for define in defines],
                  *[os.path.join(SUITE, source) for source in sources], "-o", binary, "-lpthread")
    return binary


def command_of(case, ranks, binary, parameters, options):
    command = [program("mpirun"), "--timeout", str(options.timeout), "-n", str(ranks)]
    for name, value in parameters + case.get("parameters", []) + options.mca:
        command += ["--mca", name, value]
    return command + [binary, *case.get("arguments", [])]


def run(command, limit):
    """Exit status, output and seconds. All processes of a run that does not end are ended."""
    started = time.monotonic()
    position = command.index("--timeout")
    with own_session.started(command[:position] + ["--explain"] + command[position:], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        try:
            output, _ = process.communicate(timeout=limit + 10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
    return process.returncode, output, time.monotonic() - started


class Report:
    """What happened so far, and the lines about it."""

    def __init__(self):
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.was_used = False
        self.reasons = []  # why it was not used

    def add(self, name, command, status, output, seconds):
        skipped = re.search(r"^SKIPPED: .*", output, re.MULTILINE)
        verdict = "failed" if status != 0 else "skipped" if skipped else "passed"
        self.counts[verdict] += 1
        print(f"{verdict:8}{name:44}{seconds:6.1f} s", flush=True)
        if verdict == "failed":
            lines = [line for line in output.rstrip().split("\n") if not EXPLANATION.match(line)]
            tail = "\n".join(lines[-30:])
            print(f"  status {status}; by hand: {shlex.join(command)}\n{tail}", flush=True)
        elif skipped:
            print(f"  {skipped.group()}", flush=True)


def test(options, folder, report):
    component = Component(options.file, folder)
    suite = read_suite(component.framework)
    parameters = component.parameters(suite, options.wrap)
    for case in suite["programs"]:
        title = title_of(case)
        if options.programs and not any(word in title for word in options.programs):
            continue
        if options.list:
            print(title, "with", ", ".join(map(str, case["ranks"])), "ranks")
            continue
        binary = build(case, folder)
        for ranks in options.ranks or case["ranks"]:
            command = command_of(case, ranks, binary, parameters, options)
            status, output, seconds = run(command, options.timeout)
            for unknown, name in UNKNOWN_PARAMETER.findall(output):
                if any(name == given for given, _ in options.mca):
                    raise Problem(unknown)
            report.was_used = report.was_used or component.used(output, options.wrap)
            report.reasons += [reason for reason in component.reasons(output) if reason not in report.reasons]
            report.add(f"{title}, {ranks} ranks", command, status, output, seconds)
    if options.list:
        return 0
    counts = report.counts
    print(f"{component.framework}/{component.name}: "
          + ", ".join(f"{number} {what}" for what, number in counts.items() if number or what != "skipped"))
    if sum(counts.values()) == 0:
        raise Problem("no program has such a name; --list prints them")
    if not report.was_used:
        raise Problem("no run used the component" + (f" ({'; '.join(report.reasons)})" if report.reasons else "")
                      + ". --mca sets its parameters" + ("" if options.wrap else ", --wrap tests one that wraps others"))
    return 1 if counts["failed"] else 0


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="patchbay-plugin-test", formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__,
        epilog="example: patchbay-plugin-test --wrap mca_btl_count.so")
    parser.add_argument("--wrap", action="store_true",
                        help="test a component that wraps others (parameter <framework>_wrap)")
    parser.add_argument("--mca", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                        help="a parameter for all runs, for example one of the component")
    parser.add_argument("-n", dest="ranks", type=int, action="append", metavar="RANKS",
                        help="run with this number of ranks instead of those that the suite states; may be repeated")
    parser.add_argument("--programs", action="append", default=[], metavar="TEXT",
                        help="only the programs whose name contains this; may be repeated")
    parser.add_argument("--list", action="store_true", help="print the programs and their ranks, and run none")
    parser.add_argument("--timeout", type=int, default=120, help="seconds that one run may take (120)")
    parser.add_argument("file", metavar="FILE", help="the component")
    options = parser.parse_args(arguments)
    if options.timeout < 1 or any(ranks < 1 for ranks in options.ranks or []):
        parser.error("--timeout and -n must be at least 1")
    return options


def finish(status):
    """The status, when the output has been written."""
    sys.stdout.flush()
    return status


def main(arguments):
    options = parse_arguments(arguments)
    own_session.exit_on_signals()
    own_session.have_output()
    try:
        folder = tempfile.mkdtemp(prefix="patchbay-plugin-test-")
        report = Report()
        try:
            return finish(test(options, folder, report))
        finally:
            if report.counts["failed"] > 0:  # the commands that were printed run the programs in it, over the copy of the component in it
                print(f"patchbay-plugin-test: {folder} has the programs and a copy of the component; remove it when it is not "
                      "needed any more", file=sys.stderr)
            else:
                shutil.rmtree(folder, ignore_errors=True)
    except BrokenPipeError:
        return own_session.exit_on_broken_pipe()
    except OSError as error:
        print(f"patchbay-plugin-test: {error}", file=sys.stderr)
        return 1
    except Problem as problem:
        print(f"patchbay-plugin-test: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("patchbay-plugin-test: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
