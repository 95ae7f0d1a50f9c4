# SPDX-License-Identifier: BSD-3-Clause
"""What the descriptions of programs have in common, and the tree in which a program is built."""
import fnmatch
import hashlib
import inspect
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import processes
from verdict import FAIL, PASS, SKIP, Verdict

BUILD_LIMIT = 7200


class BuildError(Exception):
    """The program cannot be configured or built."""


def passed_by_status(status, output):
    """The usual rule."""
    return Verdict(PASS) if status == 0 else Verdict(FAIL, f"exit status {status}: {last_words(output)}")


def last_words(output):
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:160] if lines else "no output"


@dataclass
class Test:
    """One of a program's own tests."""

    name: str
    command: list
    folder: Path
    limit: float = 300
    judge: object = passed_by_status  # (exit status, output) -> Verdict
    excluded: str = ""  # the reason why it is not run

    def verdict(self, ended, output):
        """The Verdict for a run that processes.run() has done."""
        if self.excluded:
            return Verdict(SKIP, self.excluded)
        if ended.flooded:
            return Verdict(FAIL, "too much output")
        if ended.timed_out:
            return Verdict(FAIL, f"time limit: {self.limit:g} s")
        judged = self.judge(ended.status, output)
        if judged.status == PASS and ended.left_behind:
            return Verdict(FAIL, f"{ended.left_behind} processes were still there when the test had ended")
        return judged


class Program:
    """One program: a subclass for each describes where it comes from, how it is built and what its tests are."""

    name = ""
    package = ""  # Debian's source package
    about = ""  # one sentence for docs/programs.md
    tested = ""  # what its tests are, for docs/programs.md
    part = ""  # the folder of the archive that is used, if not all of it
    renamed = {}  # {file: {name that MPI-3.0 removed or the ABI does not have: its successor}}
    excluded = {}  # {pattern of test names: reason}
    notes = ()  # other sentences for docs/programs.md
    settings = ()  # what build() uses besides its own text

    def build(self, tree):
        """Configures and builds the program and its tests; BuildError when that fails."""
        raise NotImplementedError

    def tests(self, tree):
        """Its tests, those that are excluded among them."""
        raise NotImplementedError

    def recipe(self):
        """What a build depends on of the description: with another recipe it is built anew."""
        return inspect.getsource(type(self).build) + repr((self.part, self.renamed, self.settings))

    def smoke(self):
        """A description with a part of the build and of the tests, for CI. None where there is none."""
        return None

    def chosen_tests(self, tree):
        """The tests with the exclusions marked. ValueError for an exclusion of a test that does not exist."""
        tests = self.tests(tree)
        for pattern, reason in self.excluded.items():
            matching = [test for test in tests if fnmatch.fnmatchcase(test.name, pattern)]
            if not matching:
                raise ValueError(f"{self.name}: the exclusion {pattern} fits no test")
            for test in matching:
                test.excluded = reason
        return tests


class Tree:
    """The folder in which a program is built, with an installation of Patchbay MPI that may be replaced.

    Programs are linked dynamically against a fixed ABI, and reach the installation through a link. A build therefore
    depends on the header, the compiler wrapper, the compiler, the source and the recipe, and is kept.
    """

    def __init__(self, work, program, version, prefix, jobs):
        self.work = Path(work)
        self.program = program
        self.version = version
        self.installation = Path(prefix)
        self.jobs = jobs
        self.parameters = {}  # of the library, as environment variables, for the tests and the build
        self.folder = self.work / f"{program.name}-{self.key()}"
        self.source = self.folder / "source"
        self.logs = self.folder / "logs"
        self.prefix = self.folder / "prefix"

    def key(self):
        compiler = subprocess.run([self.installation / "bin/mpicc", "--version"], capture_output=True, check=True).stdout
        digest = hashlib.sha256()
        for part in (
            (self.installation / "include/mpi.h").read_bytes(),
            (self.installation / "bin/mpicc").read_bytes(),
            compiler,
            self.version.encode(),
            self.program.recipe().encode(),
        ):
            digest.update(hashlib.sha256(part).digest())
        return digest.hexdigest()[:12]

    @property
    def is_built(self):
        return (self.folder / "built").exists()

    def open(self, unpack):
        """Makes the folder; `unpack` puts the source into it. Returns whether the program has to be built."""
        for other in self.work.glob(f"{self.program.name}-" + "?" * 12):
            if other != self.folder:
                shutil.rmtree(other)
        if not self.is_built:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.logs.mkdir(parents=True)
            unpack(self.source)
        self.prefix.unlink(missing_ok=True)
        self.prefix.symlink_to(self.installation)
        return not self.is_built

    def close(self):
        (self.folder / "built").touch()

    @property
    def mpicc(self):
        return str(self.prefix / "bin/mpicc")

    @property
    def mpicxx(self):
        return str(self.prefix / "bin/mpicxx")

    def mpirun(self, ranks, *command):
        return [str(self.prefix / "bin/mpirun"), "-n", str(ranks), *map(str, command)]

    def environment(self):
        """What the build and the tests run with: no setting of the user's for make or for an MPI library."""
        dropped = ("MAKE", "MFLAGS", "MPIEXEC_", "OMPI_", "PMIX_", "PATCHBAY_", "PETSC_", "HYPRE_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        for name in ("CC", "CXX", "FC", "F77", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS"):
            kept.pop(name, None)
        kept.update(
            HOME=str(self.folder),
            LC_ALL="C",
            LD_LIBRARY_PATH=str(self.installation / "lib"),
            PATH=f"{self.prefix}/bin:{kept.get('PATH', '/usr/bin:/bin')}",
            **self.parameters,
        )
        return kept

    def log(self, name):
        return self.logs / (re.sub(r"[^\w.=-]", "_", name)[:150] + ".log")

    def step(self, name, command, folder=None):
        """One command of the build. BuildError when it fails."""
        log = self.log(name)
        ended = processes.run(list(map(str, command)), folder or self.source, self.environment(), BUILD_LIMIT, log)
        if ended.status != 0:
            text = log.read_text(errors="replace")
            found = re.search(r"^.*(?:error:|undefined reference|No rule to make).*$", text, re.MULTILINE)
            raise BuildError(f"{name}: {found.group(0) if found else last_words(text)} ({log})")

    def make(self, name, *arguments, folder=None):
        self.step(name, ["make", f"-j{self.jobs}", *arguments], folder)
