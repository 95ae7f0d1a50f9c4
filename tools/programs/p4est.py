# SPDX-License-Identifier: BSD-3-Clause
"""p4est: parallel adaptive meshes, and its library sc."""
from program import BuildError, Program, Test


class P4est(Program):
    name = "p4est"
    package = "p4est"
    about = "p4est: adaptive meshes as forests of octrees, with its library sc"
    tested = "every program of `make check`, with 2 and with 4 ranks"
    ranks = (2, 4)

    def build(self, tree):
        # Without a checkout of git the scripts read the version from these files.
        for folder in (tree.source, tree.source / "sc"):
            (folder / ".tarball-version").write_text(tree.version + "\n")
        tree.step("bootstrap", ["./bootstrap"])
        options = ["--enable-mpi", "--disable-mpiio", "--disable-shared", "--without-blas", "--disable-dependency-tracking"]
        compilers = [f"CC={tree.mpicc}", f"CXX={tree.mpicxx}", "F77=gfortran", "FC=gfortran", "CFLAGS=-O1 -w"]
        tree.step("configure", ["./configure", *options, *compilers])
        tree.make("library", "-s")
        # `make check` builds the programs that it runs; it runs none here.
        tree.make("programs", "-s", "check", "TESTS=")

    def tests(self, tree):
        programs = [
            path
            for folder in ("sc/test", "test")
            for path in sorted((tree.source / folder).glob("*_test_*"))
            if path.is_file() and not path.suffix
        ]
        if not programs:
            raise BuildError("p4est: make check built no program")
        return [
            Test(f"{path.name} -n {ranks}", tree.mpirun(ranks, path), path.parent)
            for path in programs
            for ranks in self.ranks
        ]
