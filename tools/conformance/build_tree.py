# SPDX-License-Identifier: BSD-3-Clause
"""Configures the suite for an installed prefix and builds its programs.

A build is kept for the next run: programs are linked dynamically against an ABI that is fixed, so that they depend on
the header and the compiler wrapper only. The build reaches the prefix through a link, and therefore outlives it.
"""
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import processes
import verdict

CONFIGURE_LIMIT = 600
BUILD_LIMIT = 600
# What configure leaves out when its own trial programs do not work; without these the result would be no result.
NEEDED_FOLDERS = ("threads", "errors", "part", "rma")
OPTIONS = ["--disable-fortran", "--disable-cxx", "--disable-ft-tests", "--enable-threads=multiple"]
CFLAGS = "-O0 -w"


class BuildError(Exception):
    """The suite cannot be configured."""


def key_of(prefix, version):
    """Names what a build depends on."""
    compiler = subprocess.run([prefix / "bin/mpicc", "--version"], capture_output=True, check=True).stdout
    digest = hashlib.sha256()
    for part in (
        (prefix / "include/mpi.h").read_bytes(),
        (prefix / "bin/mpicc").read_bytes(),
        compiler,
        " ".join([version, CFLAGS, *OPTIONS]).encode(),
    ):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:12]


class BuildTree:
    def __init__(self, work, source, version, prefix, jobs):
        self.work = Path(work)
        self.source = Path(source)
        self.prefix = Path(prefix)
        self.jobs = jobs
        self.folder = self.work / f"build-{key_of(self.prefix, version)}"
        self.log_folder = self.folder / "conformance-logs"
        self._helper_symbols = None

    @property
    def is_configured(self):
        return (self.folder / "conformance-configured").exists()

    def environment(self):
        """What the compiler, configure's trial programs and the tests run with."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MAKE", "MFLAGS", "MPIEXEC_", "MPITEST_", "OMPI_", "PMIX_", "PATCHBAY_"))
        }
        # No parameter of the user's own; the library of this prefix, wherever the programs were linked.
        environment.update(HOME=str(self.folder), LD_LIBRARY_PATH=str(self.prefix / "lib"), LC_ALL="C")
        return environment

    def open(self):
        """Makes the tree ready for build(). Trees for other headers are removed."""
        for other in self.work.glob("build-*"):
            if other != self.folder:
                shutil.rmtree(other)
        self.folder.mkdir(exist_ok=True)
        self.log_folder.mkdir(exist_ok=True)
        link = self.folder / "prefix"
        link.unlink(missing_ok=True)
        link.symlink_to(self.prefix)
        if not self.is_configured:
            self.configure()

    def run(self, command, log, limit, folder=None):
        return processes.run(command, folder or self.folder, self.environment(), limit, log)

    def configure(self):
        log = self.work / "configure.log"
        command = [
            str(self.source / "configure"),
            f"MPICC={self.folder}/prefix/bin/mpicc",
            f"MPIEXEC={self.folder}/prefix/bin/mpirun",
            "MPICXX=false",
            "MPIF77=false",
            "MPIFC=false",
            f"CFLAGS={CFLAGS}",
            *OPTIONS,
        ]
        ended = self.run(command, log, CONFIGURE_LIMIT)
        if ended.status != 0:
            raise BuildError(f"configure failed with status {ended.status}: see {log}")
        lists = (self.folder / "testlist").read_text().split()
        missing = [name for name in NEEDED_FOLDERS if name not in lists]
        if missing:
            raise BuildError(f"configure left out {', '.join(missing)} (a trial program failed): see {log}")
        # The helper libraries that all programs are linked with.
        for folder in ("dtpools", "util"):
            self.make(folder, ["all"], "helpers")
        (self.folder / "conformance-configured").touch()

    def make(self, folder, targets, name):
        """Builds targets of a folder. Returns the log's text."""
        log = self.log_folder / (re.sub(r"[^\w.-]", "_", f"{folder}_{name}") + ".log")
        self.run(["make", "-k", f"-j{self.jobs}", *targets], log, BUILD_LIMIT, self.folder / folder)
        return log.read_text(errors="replace")

    def executable(self, test):
        return self.folder / test.folder / test.program

    def is_built(self, test):
        return os.access(self.executable(test), os.X_OK)

    def build(self, tests):
        """Builds the programs of one folder. Returns {path of a program that does not compile: reason}."""
        by_folder = {}
        for test in tests:
            if not self.is_built(test):
                by_folder.setdefault(test.folder, {})[test.program] = test
        problems = {}
        for folder, programs in by_folder.items():
            self.make(folder, sorted(programs), "all")
            for program, test in programs.items():
                if not self.is_built(test):
                    log = self.make(folder, [program], program)
                    if not self.is_built(test):
                        problems[test.path] = verdict.build_problem(log)
        return problems

    def symbols_used(self, test):
        """The MPI functions that the program's own object files call."""
        folder = self.folder / test.folder
        own = [folder / f"{test.program}.o", *folder.glob(f"{test.program}-*.o")]
        own = [path for path in own if path.exists()]
        if own:
            return undefined_symbols(own)
        # Object files of other names: what the helper libraries call is in every program.
        if self._helper_symbols is None:
            helpers = [*self.folder.glob("util/*.o"), *self.folder.glob("dtpools/src/*.o")]
            self._helper_symbols = undefined_symbols(helpers)
        return undefined_symbols([self.executable(test)]) - self._helper_symbols


def undefined_symbols(files):
    if not files:
        return set()
    result = subprocess.run(["nm", "-u", *map(str, files)], capture_output=True, text=True, check=False)
    return set(re.findall(r"\bU (MPIX?_\w+)", result.stdout))
