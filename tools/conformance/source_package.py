# SPDX-License-Identifier: BSD-3-Clause
"""Gets the test suite that Debian's source package of MPICH contains."""
import apt_source
from apt_source import CannotFetch  # noqa: F401  (for those who import this module)

PACKAGE = "mpich"
SUITE = "test/mpi"
# dtpools, a helper library of the suite that every program is linked with, calls two functions that MPI-3.0 removed.
RENAMED = {
    "dtpools/src/dtpools_custom.c": {
        "MPI_Type_hvector": "MPI_Type_create_hvector",
        "MPI_Type_hindexed": "MPI_Type_create_hindexed",
    }
}


def unpack(path, target):
    """Unpacks the suite into `target`, with the names in RENAMED replaced."""

    def change(folder):
        if not (folder / "configure").exists():
            raise CannotFetch(f"{path.name} has no {SUITE}/configure")
        apt_source.rename_functions(folder, RENAMED)

    apt_source.unpack(path, target, SUITE, change)


def fetch(work):
    """Returns (folder of the suite, upstream version)."""
    work.mkdir(parents=True, exist_ok=True)
    path = apt_source.archive(work, PACKAGE)
    version = apt_source.version_of(path, PACKAGE)
    source = work / f"{PACKAGE}-{version}"
    if not source.exists():
        unpack(path, source)
    return source, version
