# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS: molecular dynamics; its examples, compared with a build of it that has no MPI."""
import sys
from pathlib import Path

from program import Program, Test

HERE = Path(__file__).resolve().parent
PACKAGES = ("molecule", "kspace", "rigid")
# Two functions for callers in Fortran convert handles: the standard ABI has no MPI_Fint, and converts them to and from int.
CONVERSIONS = "-DMPI_Fint=int -DMPI_Comm_f2c=MPI_Comm_fromint -DMPI_Comm_c2f=MPI_Comm_toint"
# {input: (tolerance of the numbers as a part of the largest in their column, last step that is compared)}. Inputs whose
# atoms are numbered or whose random numbers are drawn by the decomposition have another physical start with each number of
# ranks, with any MPI, and are left out.
INPUTS = {
    "examples/melt/in.melt": (1e-6, 250),
    "examples/min/in.min": (1e-5, 600),
    "examples/fire/in.cg": (1e-5, 600),
    "examples/micelle/in.micelle": (1e-4, 1000),
    "examples/rigid/in.rigid": (1e-5, 1000),
    "examples/template/in.mol-data-mix": (1e-5, 100),
    "examples/peptide/in.peptide": (1e-4, 300),
    "bench/in.lj": (1e-6, 100),
}


class Lammps(Program):
    name = "lammps"
    package = "lammps"
    about = "LAMMPS: molecular dynamics, with its packages " + ", ".join(name.upper() for name in PACKAGES)
    tested = (
        "example and benchmark inputs with 2 and 4 ranks: the thermodynamic output is compared with that of a build with its "
        "own stubs in place of MPI; inputs whose start depends on the number of ranks, with any MPI, are left out, and of "
        "chaotic ones only the first steps are compared"
    )

    notes = (
        "The standard ABI has no `MPI_Fint`; the macros `MPI_Fint`, `MPI_Comm_f2c` and `MPI_Comm_c2f` are defined as `int`, "
        "`MPI_Comm_fromint` and `MPI_Comm_toint`.",
    )
    settings = (PACKAGES, CONVERSIONS, tuple(INPUTS))

    def build(self, tree):
        source = tree.source / "src"
        tree.make("packages", *(f"yes-{name}" for name in PACKAGES), folder=source)
        # The makefiles take `mpicxx` from PATH.
        for machine, macros in (("serial", ""), ("mpi", CONVERSIONS)):
            tree.make(machine, machine, f"CCFLAGS=-O1 -w -std=c++11 {macros}", "LINKFLAGS=-O1", folder=source)
        for name in INPUTS:
            tree.step(f"serial {name}", self.command(tree, name, "serial"), (tree.source / name).parent)

    def command(self, tree, name, machine):
        log = f"log.{Path(name).name}.{machine}"
        return [tree.source / f"src/lmp_{machine}", "-in", Path(name).name, "-log", log, "-screen", "none"]

    def tests(self, tree):
        return [self.test(tree, name, ranks) for name in INPUTS for ranks in (2, 4)]

    def test(self, tree, name, ranks):
        tolerance, last_step = INPUTS[name]
        parts = list(map(str, self.command(tree, name, "mpi")))
        serial, log = f"log.{Path(name).name}.serial", f"log.{Path(name).name}.{ranks}"
        parts[parts.index("-log") + 1] = log
        script = '"$@" || exit; exec "$0" "$THERMO" "$SERIAL" "$LOG" $LIMITS'
        settings = [f"THERMO={HERE / 'thermo.py'}", f"SERIAL={serial}", f"LOG={log}", f"LIMITS={tolerance:g} {last_step}"]
        command = ["env", *settings, "bash", "-c", script, sys.executable, *tree.mpirun(ranks, *parts)]
        return Test(f"{name} -n {ranks}", command, (tree.source / name).parent, limit=600)
