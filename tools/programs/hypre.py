# SPDX-License-Identifier: BSD-3-Clause
"""HYPRE: its linear solvers, by its own test drivers and saved results."""
from pathlib import Path

from program import Program, Test

# Our own driver: the ranks are threads, or processes.
THREADS = Path(__file__).with_name("hypre_threads.c")


class Hypre(Program):
    name = "hypre"
    package = "hypre"
    about = "HYPRE: scalable linear solvers and multigrid methods"
    tested = (
        "the jobs of its drivers `ij`, `struct` and `sstruct`, with 1 to 9 ranks each, compared by its own scripts with the "
        "results that it saves; and a solver inside a parallel region of OpenMP, whose threads are the ranks of a thread "
        "communicator, compared with the same ranks as processes"
    )
    notes = (
        "For threads as ranks nothing is changed in HYPRE, which is built without its own parallel regions: HYPRE_Init is "
        "called once by the process, before the region, and each thread makes its own objects on the thread communicator.",
    )
    # The saved results come from another machine and compiler: HYPRE's scripts compare with a tolerance.
    tolerance = ("-rtol", "1e-3", "-atol", "1e-6")
    drivers = ("ij", "ij_mm", "ij_assembly", "struct", "struct_migrate", "sstruct", "sstruct_fac", "ams_driver", "maxwell_unscaled")
    settings = (*drivers, THREADS.read_text())
    # (processes, threads of each)
    teams = ((1, 4), (2, 2), (1, 8), (2, 3))
    folders = ("TEST_ij", "TEST_struct", "TEST_sstruct")

    def build(self, tree):
        source = tree.source / "src"
        options = ["--disable-fortran", "--without-superlu", f"CC={tree.mpicc}", f"CXX={tree.mpicxx}"]
        tree.step("configure", ["./configure", *options, "CFLAGS=-O1 -w", "CXXFLAGS=-O1 -w"], source)
        tree.make("library", folder=source)
        tree.make("drivers", *self.drivers, folder=source / "test")
        self.build_threads(tree, source / "hypre")

    def tests(self, tree):
        folder = tree.source / "src/test"
        return [
            self.test(tree, folder, f"{part}/{script.stem}")
            for part in self.folders
            for script in sorted((folder / part).glob("*.sh"))
        ] + self.tests_of_threads(tree)

    def smoke(self):
        return HypreSmoke()

    @staticmethod
    def build_threads(tree, installed):
        where = [f"-I{installed}/include", str(THREADS), f"-L{installed}/lib", "-lHYPRE", "-lm"]
        tree.step("threads", [tree.mpicc, "-std=c11", "-O1", "-fopenmp", *where, "-o", str(tree.folder / "threads")])

    def tests_of_threads(self, tree):
        """The same line must be printed by threads and by processes."""
        compared = 'wanted=$("$1" -n $(($2 * $3)) "$4") && found=$("$1" -n "$2" "$4" "$3") || exit\n' \
            'printf "processes: %s\nthreads: %s\n" "$wanted" "$found"; [ -n "$wanted" ] && [ "$wanted" = "$found" ]'
        return [
            Test(
                f"threads/{processes}x{threads}",
                ["bash", "-c", compared, "threads", *map(str, (tree.prefix / "bin/mpirun", processes, threads, tree.folder / "threads"))],
                tree.folder,
            )
            for processes, threads in self.teams
        ]

    def test(self, tree, folder, name):
        """The scripts write what they find into NAME.err, and end with status 0 whatever that is."""
        run = ["bash", "runtest.sh", "-mpi", f"{tree.prefix}/bin/mpirun -np", *self.tolerance, f"{name}.sh"]
        judged = 'name=$0; "$@" || exit; cat "$name.err"; ! grep -q "[^[:space:]]" "$name.err"'
        return Test(name, ["bash", "-c", judged, name, *run], folder, limit=900)


class HypreSmoke(Hypre):
    """The structured solvers alone: what their driver needs of the library, and a few of its jobs."""

    name = "hypre-smoke"
    parts = ("blas", "lapack", "utilities", "multivector", "krylov", "struct_mv", "struct_ls")
    settings = (*parts, THREADS.read_text())
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
        self.build_threads(tree, source / "hypre")

    def tests(self, tree):
        jobs = [self.test(tree, tree.source / "src/test", f"TEST_struct/{job}") for job in self.jobs]
        return jobs + self.tests_of_threads(tree)
