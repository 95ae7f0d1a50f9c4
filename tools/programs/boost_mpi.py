# SPDX-License-Identifier: BSD-3-Clause
"""Boost.MPI: a C++ interface with its own tests of collectives, topologies, groups, datatypes and serialization."""
import re

from program import BuildError, Program, Test

COMPILE = ["-std=gnu++14", "-O0", "-w", "-DBOOST_MPI_SOURCE=1"]
# Programs that are made for so many ranks, by the test list of Boost.MPI.
RANKS = {
    "version_test": (1,),
    "cartesian_topology_init_test": (1,),
    "is_mpi_op_test": (1,),
    "mt_level_test": (1,),
    "block_nonblock_test-b2nb": (2,),
    "broadcast_stl_test": (2,),
    "pointer_test": (2,),
    "sendrecv_vector": (2,),
    "cartesian_communicator": (24,),
    "cartesian_topology_test": (24,),
    "graph_topology_test": (2, 4, 7),
    "mt_init_test": (1, 4),
    "wait_all_on_null": (1, 2),
    "ring_test": (2, 4, 7),
}


class BoostMpi(Program):
    name = "boost-mpi"
    package = "boost1.74"
    about = "Boost.MPI: the C++ interface of Boost, with communicators of Cartesian and graph topologies"
    tested = "every C++ program of its test list, with 2 and 4 ranks, or with those that the list wants"
    part = "libs/mpi"
    settings = COMPILE
    renamed = {
        "src/environment.cpp": {
            "MPI_Errhandler_set": "MPI_Comm_set_errhandler",
            "MPI_Attr_get": "MPI_Comm_get_attr",
        }
    }

    def listed(self, tree):
        """{name of a test: its source} of the test list."""
        text = (tree.source / "test/Jamfile.v2").read_text()
        found = re.findall(r"\[ mpi-test (\S+)\s*(?::\s*([\w./]+\.cpp)?)?", text)
        sources = {name: tree.source / "test" / (source or f"{name}.cpp") for name, source in found}
        # The list has one program twice.
        sources.pop("block_nonblock_test-nb2b", None)
        return sources

    def build(self, tree):
        makefile = ["all:", f"CXX = {tree.mpicxx}", f"CXXFLAGS = {' '.join(COMPILE)} -I{tree.source}/test"]
        library = sorted((tree.source / "src").glob("*.cpp"))
        objects = " ".join(f"{path.stem}.o" for path in library)
        for path in library:
            makefile.append(f"{path.stem}.o: {path}\n\t$(CXX) $(CXXFLAGS) -c -o $@ $<")
        makefile.append(f"libboost_mpi.a: {objects}\n\tar rcs $@ {objects}")
        names = self.listed(tree)
        for name, source in names.items():
            libraries = "libboost_mpi.a -lboost_serialization"
            makefile.append(f"{name}: {source} libboost_mpi.a\n\t$(CXX) $(CXXFLAGS) -o $@ $< {libraries}")
        makefile.append("all: " + " ".join(names))
        folder = tree.source / "patchbay"
        folder.mkdir()
        (folder / "Makefile").write_text("\n".join(makefile) + "\n")
        tree.make("programs", folder=folder)

    def tests(self, tree):
        names = self.listed(tree)
        if not names:
            raise BuildError("boost-mpi: the test list names no test")
        folder = tree.source / "patchbay"
        return [
            Test(f"{name} -n {ranks}", tree.mpirun(ranks, folder / name), folder)
            for name in names
            for ranks in RANKS.get(name, (2, 4))
        ]
