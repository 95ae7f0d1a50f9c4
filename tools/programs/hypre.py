# SPDX-License-Identifier: BSD-3-Clause
"""HYPRE: its linear solvers, by its own test drivers and saved results."""
from program import Program, Test


class Hypre(Program):
    name = "hypre"
    package = "hypre"
    about = "HYPRE: scalable linear solvers and multigrid methods"
    tested = (
        "the jobs of its drivers `ij`, `struct` and `sstruct`, with 1 to 9 ranks each, compared by its own scripts with the "
        "results that it saves"
    )
    # The saved results come from another machine and compiler: HYPRE's scripts compare with a tolerance.
    tolerance = ("-rtol", "1e-3", "-atol", "1e-6")
    drivers = ("ij", "ij_mm", "ij_assembly", "struct", "struct_migrate", "sstruct", "sstruct_fac", "ams_driver", "maxwell_unscaled")
    settings = drivers
    folders = ("TEST_ij", "TEST_struct", "TEST_sstruct")

    def build(self, tree):
        source = tree.source / "src"
        options = ["--disable-fortran", "--without-superlu", f"CC={tree.mpicc}", f"CXX={tree.mpicxx}"]
        tree.step("configure", ["./configure", *options, "CFLAGS=-O1 -w", "CXXFLAGS=-O1 -w"], source)
        tree.make("library", folder=source)
        tree.make("drivers", *self.drivers, folder=source / "test")

    def tests(self, tree):
        folder = tree.source / "src/test"
        return [
            self.test(tree, folder, f"{part}/{script.stem}")
            for part in self.folders
            for script in sorted((folder / part).glob("*.sh"))
        ]

    def smoke(self):
        return HypreSmoke()

    def test(self, tree, folder, name):
        """The scripts write what they find into NAME.err, and end with status 0 whatever that is."""
        run = ["bash", "runtest.sh", "-mpi", f"{tree.prefix}/bin/mpirun -np", *self.tolerance, f"{name}.sh"]
        judged = 'name=$0; "$@" || exit; cat "$name.err"; ! grep -q "[^[:space:]]" "$name.err"'
        return Test(name, ["bash", "-c", judged, name, *run], folder, limit=900)


class HypreSmoke(Hypre):
    """The structured solvers alone: what their driver needs of the library, and a few of its jobs."""

    name = "hypre-smoke"
    parts = ("blas", "lapack", "utilities", "multivector", "krylov", "struct_mv", "struct_ls")
    settings = parts
    jobs = ("migrate", "pfmgbase2d", "smgbase3d", "periodic")

    def build(self, tree):
        source = tree.source / "src"
        options = ["--disable-fortran", f"CC={tree.mpicc}", f"CXX={tree.mpicxx}", "CFLAGS=-O0 -w", "CXXFLAGS=-O0 -w"]
        tree.step("configure", ["./configure", *options], source)
        tree.make("library", f"HYPRE_DIRS={' '.join(self.parts)}", "all", folder=source)
        objects = [path for part in self.parts for path in sorted((source / part).glob("*.o*"))]
        (source / "hypre/lib").mkdir(parents=True, exist_ok=True)
        tree.step("archive", ["ar", "rcs", "hypre/lib/libHYPRE.a", *objects], source)
        tree.make("drivers", "struct", "struct_migrate", folder=source / "test")

    def tests(self, tree):
        return [self.test(tree, tree.source / "src/test", f"TEST_struct/{job}") for job in self.jobs]
