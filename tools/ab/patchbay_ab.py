#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one program under several settings, several installations or several MPI libraries, in alternation, and compares
the results.

Each block runs every variant once, in random order, so that whatever else the machine does hits all of them alike.
A program may be a source file (.c, .cpp): it is then built with each library's own compiler wrapper, which is the only
way to compare with another MPI. Metrics are read from lines of its output,

    METRIC <name> <value> <unit> <lower|higher>

as the programs in share/patchbay/bench print them. Of a program that prints none, wall time, CPU time and the memory of
its largest process are compared."""
import argparse
import contextlib
import json
import math
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
PREFIX = os.environ.get("PATCHBAY_PREFIX") or os.path.dirname(HERE)
sys.path[:0] = [HERE] + [os.path.join(prefix, "share", "patchbay", "ab") for prefix in (os.path.dirname(HERE), PREFIX)]
import comparison  # noqa: E402  (found through the line above)
import own_session  # noqa: E402

SOURCES = {".c": "cc", ".cpp": "cxx", ".cc": "cxx", ".cxx": "cxx"}


class Problem(Exception):
    """An error that the user can correct; its text contains the remedy."""


class Patchbay:
    """Launcher and wrappers of an installed Patchbay, with a set of parameters. `one_of_several`: the comparison has more
    than one installation, so that the environment must decide which library a program finds."""

    def __init__(self, name, parameters, prefix=PREFIX, one_of_several=False):
        self.name = name
        self.parameters = parameters
        self.prefix = prefix
        self.one_of_several = one_of_several
        self.library = "patchbay"
        self.reported = set()  # warnings and errors of its runs that have been printed

    def compiler(self, language):
        return os.path.join(self.prefix, "bin", {"cc": "mpicc", "cxx": "mpicxx"}[language])

    def command(self, ranks, program):
        command = [os.path.join(self.prefix, "bin", "mpirun"), "-n", str(ranks)]
        for key, value in self.parameters:
            command += ["--mca", key, value]
        return command + program

    def environment(self):
        environment = dict(os.environ)
        if self.one_of_several:
            # A binary names the installation that it was built with, and the user's own setting may name a third one.
            paths = [os.path.join(self.prefix, "lib"), environment.get("LD_LIBRARY_PATH")]
            environment["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
        return environment

    def __str__(self):
        settings = " ".join(f"{key}={value}" for key, value in self.parameters)
        return f"{self.name}: {self.library} {self.prefix + ' ' if self.one_of_several else ''}{settings}".rstrip()


def resolved(command):
    """A command by the real name of its folder: Open MPI derives its prefix from that, and /bin/mpirun gives it none."""
    return command and os.path.join(os.path.realpath(os.path.dirname(command)), os.path.basename(command))


class ReferenceMpi:
    """A reference MPI: another implementation as the distribution installs it."""

    def __init__(self, library):
        self.name = self.library = library
        self.prefix = None
        self.reported = set()

    def compiler(self, language):
        return shutil.which({"cc": "mpicc.", "cxx": "mpicxx."}[language] + self.library)

    def command(self, ranks, program):
        launcher = resolved(shutil.which("mpirun." + self.library))
        if launcher is None or self.compiler("cc") is None:
            package = {"openmpi": "openmpi-bin libopenmpi-dev", "mpich": "mpich libmpich-dev"}[self.library]
            raise Problem(f"--reference {self.library}: its mpirun or mpicc is not installed: apt-get install {package}")
        bind = ranks <= len(os.sched_getaffinity(0))
        if self.library == "openmpi":
            options = ["--oversubscribe", "--bind-to", "core" if bind else "none"]
        else:
            options = ["-bind-to", "core"] if bind else []
        return [launcher, "-n", str(ranks)] + options + program

    def environment(self):
        return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def __str__(self):
        return f"{self.name}: {self.library}"


def words_of(text):
    """The words of an option's value, as a shell takes them."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise Problem(f"{text}: {error}") from error


def parse_settings(text):
    """'key=value key2=value2' -> pairs; quotes as in the shell, so that a value may hold blanks."""
    pairs = []
    for word in words_of(text):
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise Problem(f"'{word}' is not of the form parameter=value")
        pairs.append((key, value))
    return pairs


def build(program, variants, folder, flags):
    """What to run per variant: the program itself, or the binary made of the source by the variant's library."""
    language = SOURCES.get(os.path.splitext(program[0])[1])
    if language is None:
        if any(isinstance(variant, ReferenceMpi) for variant in variants):
            raise Problem(f"--reference needs the source: {program[0]} was built with one MPI and runs with that one only; "
                          "name its .c or .cpp file instead")
        return {variant.name: program for variant in variants}
    if not os.path.exists(program[0]):
        raise Problem(f"{program[0]}: no such source file")
    commands = {}
    built = {}
    for variant in variants:
        installation = variant.library, variant.prefix
        if installation not in built:
            binary = os.path.join(folder, f"{variant.library}_{len(built)}")
            compiler = variant.compiler(language)
            if compiler is None or not os.path.exists(compiler):
                variant.command(1, [])  # fails with the packages to install for a reference MPI
                raise Problem(f"{compiler}: no such compiler wrapper: is {variant.prefix} an installed Patchbay?")
            command = [compiler, "-O2", *flags, program[0], "-o", binary]
            result = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace",
                                    check=False)
            if result.returncode != 0:
                raise Problem(f"{shlex.join(command)} failed:\n{result.stderr.rstrip()}")
            built[installation] = binary
        commands[variant.name] = [built[installation]] + program[1:]
    return commands


def own_arguments(texts, variants):
    """'NAME:words' -> what only that variant's program is given, after what all are given."""
    arguments = {variant.name: [] for variant in variants}
    for text in texts:
        name, sign, words = text.partition(":")
        if not sign or name not in arguments:
            raise Problem(f"--arguments {text}: there is no variant '{name}' (there are {', '.join(arguments)})")
        arguments[name] += words_of(words)
    return arguments


REPORT = re.compile(r"^\[\S*\] (patchbay: (?:warning|error): .*)")


def show_reports(variant, lines):
    """Prints each warning and error of the variant's library once, whatever rank and run it is of. An unknown parameter
    ends the comparison, which would measure the default instead."""
    for line in lines:
        found = REPORT.match(line)
        if found is None or found[1] in variant.reported:
            continue
        variant.reported.add(found[1])
        if "warning: unknown parameter" in found[1]:
            raise Problem(f"{variant.name}: {found[1]}")
        show_progress("")
        print(f"{variant.name}: {line.rstrip()}", file=sys.stderr)


def number_of(word, where):
    """A measured value."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Problem(f"{where}: '{word}' is no number")
    return value


def run_once(variant, ranks, program, limit):
    """One run: its metrics, name -> (value, unit, better)."""
    command = variant.command(ranks, program)
    with (tempfile.TemporaryFile("w+", errors="replace") as output,
          tempfile.TemporaryFile("w+", errors="replace") as errors):
        start = time.monotonic()
        with own_session.started(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                 env=variant.environment()) as process:
            usage, status = wait_with_usage(process, start + limit)
        wall = time.monotonic() - start
        output.seek(0)
        errors.seek(0)
        if status != 0:
            tail = (output.read()[-1000:] + errors.read()[-1500:]).rstrip()
            why = f"did not end within {limit} s (--limit)" if status is None else f"ended with status {status}"
            raise Problem(f"{variant.name}: {shlex.join(command)} {why}\n{tail}")
        show_reports(variant, errors)
        metrics = {}
        for line in output:
            words = line.split()
            if len(words) == 5 and words[0] == "METRIC" and words[4] in ("lower", "higher"):
                metrics[words[1]] = (number_of(words[2], f"{variant.name}: {line.rstrip()}"), words[3], words[4])
    system = {"wall": (wall, "s", "lower"), "cpu": (usage.ru_utime + usage.ru_stime, "s", "lower"),
              "peak_memory": (usage.ru_maxrss / 1024, "MiB", "lower")}
    return metrics, system


def least_memory():
    """The peak memory that even the smallest program shows here, in MiB: Linux counts that of this interpreter, of which
    each run begins as a copy."""
    with own_session.started(["true"], stdin=subprocess.DEVNULL) as process:
        usage, _ = wait_with_usage(process, time.monotonic() + 60)
    return usage.ru_maxrss / 1024


def wait_with_usage(process, deadline):
    """The launcher's resource usage with that of all it waited for, and its status (None: it had to be ended)."""
    while time.monotonic() < deadline:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage, process.returncode
        time.sleep(0.0005)
    own_session.end(process)
    return None, None


def show_progress(text):
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text)
        sys.stderr.flush()


def measure(variants, commands, options):
    """All blocks that options.seconds leaves time for; samples per metric and variant, in block order, and the number
    of blocks."""
    generator = random.Random(options.seed)
    samples = {}
    printed = {}  # by variant: the names of the metrics of its first run
    total = options.warm_up + options.blocks
    started = time.monotonic()
    for block in range(total):
        counted = block - options.warm_up
        if options.seconds is not None and counted > 0 and time.monotonic() - started > options.seconds:
            total = block
            break
        order = generator.sample(variants, len(variants))
        for variant in order:
            phase = "warm-up" if block < options.warm_up else f"block {counted + 1}/{options.blocks}"
            show_progress(f"{phase}: {variant.name}  ({time.monotonic() - started:.0f} s so far)")
            metrics, system = run_once(variant, options.ranks, commands[variant.name], options.limit)
            if block < options.warm_up:
                continue
            if options.system or not metrics:
                metrics = {**metrics, **system}
            if metrics.keys() != printed.setdefault(variant.name, metrics.keys()):
                differ = ", ".join(sorted(metrics.keys() ^ printed[variant.name]))
                raise Problem(f"{variant.name}: not all runs have printed METRIC lines of the same names: {differ}")
            for name, (value, unit, better) in metrics.items():
                data = samples.setdefault(name, {"unit": unit, "better": better, "values": {}})
                if (unit, better) != (data["unit"], data["better"]):
                    raise Problem(f"{variant.name}: METRIC {name} has {unit} {better}, that of another run "
                                  f"{data['unit']} {data['better']}: they cannot be compared")
                data["values"].setdefault(variant.name, []).append(value)
    show_progress("")
    leave_out_small_memory(samples)
    return samples, total - options.warm_up


def leave_out_small_memory(samples):
    """Memory that cannot be told from that of this interpreter is no result."""
    if "peak_memory" not in samples:
        return
    least = 1.1 * least_memory()
    if any(value <= least for values in samples["peak_memory"]["values"].values() for value in values):
        del samples["peak_memory"]
        print(f"patchbay-ab: the peak memory of a run is below {least:.0f} MiB, which cannot be measured from here",
              file=sys.stderr)


class Once(argparse.Action):
    """An option that a second one would replace without a word."""
    def __call__(self, parser, namespace, values, option_string=None):
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string} is given twice: put all parameters of the variant into one, as in "
                         f"{option_string} 'K=V K=V', or name further variants with --variant")
        setattr(namespace, self.dest, values)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="patchbay-ab", allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__,
        epilog="example: patchbay-ab --a btl_sm_single_copy=cma --b btl_sm_single_copy=none --reference openmpi "
               "-n 2 -- pingpong.c")
    parser.add_argument("--a", metavar="'K=V ...'", action=Once, help="parameters of the first variant, the baseline")
    parser.add_argument("--b", metavar="'K=V ...'", action=Once, help="parameters of the second variant")
    parser.add_argument("--variant", metavar="NAME:'K=V ...'", action="append", default=[],
                        help="one more variant, or the parameters of the --prefix of that name")
    parser.add_argument("--prefix", metavar="NAME:DIR", action="append", default=[],
                        help="one more variant: the Patchbay that is installed in DIR. Without --a the first one is the "
                             "baseline, and this installation takes part only with --b or --variant")
    parser.add_argument("--reference", "--peer", dest="reference", choices=["openmpi", "mpich"], action="append",
                        default=[],
                        help="compare with this reference MPI: the same source built with its mpicc and run by its "
                             "mpirun; --peer is the former name")
    parser.add_argument("--arguments", metavar="NAME:'WORDS'", action="append", default=[],
                        help="more arguments for the program of one variant (a, b, a NAME, a reference MPI)")
    parser.add_argument("-n", dest="ranks", type=int, default=2, help="number of ranks (2)")
    parser.add_argument("--blocks", type=int, default=7, help="runs of each variant (7)")
    parser.add_argument("--seconds", type=float, default=None,
                        help="begin no further block after so many seconds, but measure at least one")
    parser.add_argument("--warm-up", type=int, default=1, help="blocks that do not count (1)")
    parser.add_argument("--limit", type=float, default=120, help="seconds that one run may take (120)")
    parser.add_argument("--seed", type=int, default=None, help="of the random order (random, and stated)")
    parser.add_argument("--system", action="store_true", help="wall, CPU and memory too when there are METRIC lines")
    parser.add_argument("--cflags", default="", help="more compiler options when the program is a source file")
    parser.add_argument("--json", metavar="FILE", help="also write everything there (- for standard output)")
    parser.add_argument("program", nargs="+", metavar="-- PROGRAM", help="binary or source file, and its arguments")
    options = parser.parse_args(arguments)
    if options.blocks < 1 or options.warm_up < 0 or options.ranks < 1:
        parser.error("--blocks and -n must be at least 1, --warm-up at least 0")
    if not options.limit > 0:
        parser.error("--limit must be above 0")
    if options.seconds is not None and not options.seconds >= 0:
        parser.error("--seconds must be at least 0")
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(10**6)
    return options


def named_prefixes(texts):
    """'NAME:DIR' -> name: path of the installation."""
    prefixes = {}
    for text in texts:
        name, _, folder = text.partition(":")
        if not name or not folder:
            raise Problem(f"--prefix {text} is not of the form NAME:DIR")
        if name in prefixes:
            raise Problem(f"two prefixes have the same name: {name}")
        prefixes[name] = os.path.abspath(os.path.expanduser(folder))
        if not os.access(os.path.join(prefixes[name], "bin", "mpirun"), os.X_OK):
            raise Problem(f"--prefix {text}: there is no bin/mpirun: install a Patchbay there with ./dev install {folder}")
    return prefixes


def own_variants(options, prefixes):
    """What runs with this installation: name -> parameters. Variants named like a prefix belong to that one."""
    variants = {}
    if options.b is not None:
        variants["b"] = options.b
    for text in options.variant:
        name, colon, settings = text.partition(":")
        if not name or not colon or "=" in name:
            raise Problem(f"--variant {text} is not of the form NAME:'K=V ...'")
        if name in variants:
            raise Problem(f"two variants have the same name: {name}")
        variants[name] = settings
    if options.a is not None or not prefixes or variants.keys() - prefixes.keys():
        if "a" in variants:
            raise Problem("two variants have the same name: a")
        variants = {"a": options.a or "", **variants}
    return variants


def make_variants(options):
    prefixes = named_prefixes(options.prefix)
    settings = own_variants(options, prefixes)
    variants = [Patchbay(name, parse_settings(text), one_of_several=bool(prefixes))
                for name, text in settings.items() if name not in prefixes]
    variants += [Patchbay(name, parse_settings(settings.get(name, "")), folder, one_of_several=True)
                 for name, folder in prefixes.items()]
    variants += [ReferenceMpi(library) for library in dict.fromkeys(options.reference)]
    names = [variant.name for variant in variants]
    if len(set(names)) != len(names):
        raise Problem("two variants have the same name: " + ", ".join(names))
    if len(variants) < 2:
        raise Problem("nothing to compare: give --b, --variant, --prefix or --reference")
    return variants


@contextlib.contextmanager
def writable(file):
    """The result, which takes long to measure, can be written there. Without one no file is left."""
    if not file or file == "-":
        yield
        return
    is_new = not os.path.lexists(file)
    try:
        with open(file, "a", encoding="utf-8"):
            pass
    except OSError as error:
        raise Problem(f"--json {file}: {error.strerror}") from error
    try:
        yield
    except BaseException:
        if is_new:
            os.unlink(file)
        raise


def write(options, variants, samples, blocks):
    """The table, and JSON if that is wanted."""
    rows = comparison.compare(samples, variants[0].name, [variant.name for variant in variants])
    if options.json != "-":
        for variant in variants:
            print(variant)
        print(f"{options.ranks} ranks, {blocks} blocks, seed {options.seed}\n")
        print(comparison.table(rows, variants[0].name))
    if options.json:
        result = {"program": options.program, "ranks": options.ranks, "blocks": blocks, "seed": options.seed,
                  "rows": rows, "samples": samples}
        if options.json == "-":
            json.dump(result, sys.stdout, indent=1)
            print()
        else:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(result, file, indent=1)


def main(arguments):
    options = parse_arguments(arguments)
    own_session.exit_on_signals()
    own_session.have_output()
    try:
        with writable(options.json), tempfile.TemporaryDirectory(prefix="patchbay-ab-") as folder:
            variants = make_variants(options)
            commands = build(options.program, variants, folder, words_of(options.cflags))
            for name, more in own_arguments(options.arguments, variants).items():
                commands[name] = commands[name] + more
            samples, blocks = measure(variants, commands, options)
    except Problem as problem:
        show_progress("")
        print(f"patchbay-ab: {problem}", file=sys.stderr)
        return 1
    except OSError as error:
        show_progress("")
        print(f"patchbay-ab: {error.filename or 'a file'}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        show_progress("")
        print("patchbay-ab: interrupted", file=sys.stderr)
        return 130
    try:
        write(options, variants, samples, blocks)
        sys.stdout.flush()
    except BrokenPipeError:
        return own_session.exit_on_broken_pipe()
    except OSError as error:
        print(f"patchbay-ab: cannot write the result: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
