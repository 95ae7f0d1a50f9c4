# SPDX-License-Identifier: BSD-3-Clause
"""PETSc: `make check`, and the parallel tests of its own harness for some of its libraries."""
import re

from program import BuildError, Program, Test, last_words
from verdict import FAIL, PASS, SKIP, Verdict

ARCH = "patchbay"
# Folders of PETSc whose examples and tests are run, with the numbers of ranks. The star forests (sf), by which PETSc
# exchanges values, use persistent requests, and on demand neighbourhood collectives.
FOLDERS = {
    "vec/is/sf/tests": "2347",
    "vec/is/sf/tutorials": "2347",
    "ksp/ksp/tutorials": "24",
    "snes/tutorials": "24",
}
NEIGHBOR = "-sf_type neighbor"


def judge_check(status, output):
    wanted = [f"run successfully with {number} MPI process" for number in (1, 2)]
    if status != 0 or "Possible error" in output or not all(words in output for words in wanted):
        return Verdict(FAIL, last_words(output))
    return Verdict(PASS)


def judge_tap(status, output):
    """By the lines that PETSc's harness prints, as the Test Anything Protocol has them."""
    lines = [line for line in output.splitlines() if re.match(r"\s*(not )?ok\b", line)]
    failed = [line.strip() for line in lines if line.strip().startswith("not ok")]
    if failed:
        return Verdict(FAIL, failed[0][:160])
    if status != 0 or not lines:
        return Verdict(FAIL, f"exit status {status}: {last_words(output)}")
    if all("# SKIP" in line for line in lines):
        return Verdict(SKIP, lines[0].split("# SKIP", 1)[1].strip())
    return Verdict(PASS)


class Petsc(Program):
    name = "petsc"
    package = "petsc"
    about = "PETSc: solvers for linear and nonlinear systems"
    tested = (
        "`make check`; what its harness runs with 2 or 4 ranks of the KSP and SNES examples and with 2 to 7 of the tests of "
        "its star forests, which exchange values by persistent requests; and all of these with 4 ranks once more with "
        f"`{NEIGHBOR}`, by which they use neighbourhood collectives"
    )
    # The standard ABI has no MPI_Fint, and its conversions of handles are those to and from int.
    renamed = {
        "src/sys/logging/xmllogevent.c": {"MPI_Type_f2c": "MPI_Type_fromint", "MPI_Fint": "int"},
        "include/petsc/private/fortranimpl.h": {"MPI_Fint": "int"},
    }
    excluded = {
        f"{name}*": "it draws: its saved output is that of a PETSc with X"
        for name in ("ksp_ksp_tutorials-ex5_5", *(f"snes_tutorials-ex3_{n}" for n in (6, 7, 8, 9, 10, 13)))
    }
    settings = FOLDERS

    def build(self, tree):
        options = [
            f"PETSC_ARCH={ARCH}",
            f"--with-cc={tree.mpicc}",
            f"--with-cxx={tree.mpicxx}",
            f"--with-mpiexec={tree.prefix}/bin/mpirun",
            "--with-fc=0",
            "--with-cudac=0",
            "--with-hipc=0",
            "--with-syclc=0",
            "--with-debugging=0",
            "--with-x=0",
            "--with-blaslapack-lib=-llapack -lblas",
            "COPTFLAGS=-O0 -w",
            "CXXOPTFLAGS=-O0 -w",
            f"--with-make-np={tree.jobs}",
        ]
        tree.step("configure", ["python3", "./configure", *options])
        self.make(tree, "library", "all")
        self.make(tree, "scripts", "-f", "gmakefile.test", f"{ARCH}/tests/testfiles")
        programs = {self.executable(script) for script in self.scripts(tree)}
        if not programs:
            raise BuildError("petsc: its harness has no parallel test")
        targets = [str(path.relative_to(tree.source)) for path in sorted(programs)]
        self.make(tree, "programs", "-f", "gmakefile.test", *targets)

    def make(self, tree, name, *arguments):
        tree.make(name, f"PETSC_DIR={tree.source}", f"PETSC_ARCH={ARCH}", *arguments)

    def scripts(self, tree):
        """The scripts of the harness for these numbers of ranks, without those that want what is not installed."""
        found = []
        for folder, wanted in FOLDERS.items():
            for path in sorted((tree.source / ARCH / "tests" / folder).glob("run*.sh")):
                text = path.read_text()
                ranks = re.search(r"^nsize_in=\$\{nsize:-(\d+)\}", text, re.MULTILINE)
                if ranks and ranks.group(1) in wanted and not re.search(r"SKIP .*(requirement|[Rr]equire)", text):
                    found.append(path)
        return found

    def executable(self, script):
        name = re.search(r"^exec='\.\./(\S+)'", script.read_text(), re.MULTILINE).group(1)
        return script.parent / name

    def tests(self, tree):
        command = ["make", f"PETSC_DIR={tree.source}", f"PETSC_ARCH={ARCH}", "check"]
        tests = [Test("make check", command, tree.source, judge=judge_check)]
        for script in self.scripts(tree):
            text = script.read_text()
            ranks = re.search(r"nsize:-(\d+)", text).group(1)
            name = re.search(r"^label='(\S+)'", text, re.MULTILINE).group(1)
            run = [Test(f"{name} -n {ranks}", ["bash", str(script)], script.parent, judge=judge_tap)]
            if ranks == "4" and "-sf_" not in text:
                command = ["env", f"PETSC_OPTIONS={NEIGHBOR}", "bash", str(script)]
                run.append(Test(f"{name} -n {ranks} {NEIGHBOR}", command, script.parent, judge=judge_tap))
            tests += run
        return tests
