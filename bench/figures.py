# SPDX-License-Identifier: BSD-3-Clause
"""What the table of README.md consists of: the runs of patchbay-ab, and the rows that are made of their results."""
from dataclasses import dataclass

PATCHBAY, OPEN_MPI, MPICH, LIMIT = COLUMNS = ("Patchbay", "Open MPI", "MPICH", "limit")
ALL_CORES = 0  # as many ranks as there are cores


@dataclass(frozen=True)
class Run:
    """One call of patchbay-ab. No further block begins after `seconds`."""
    name: str
    ranks: int
    program: tuple
    options: tuple
    blocks: int
    seconds: int
    warm_up: int = 1


@dataclass(frozen=True)
class Figure:
    """The median of one metric over all blocks. `baseline`: its ratio to that variant of the same blocks instead."""
    run: str
    metric: str
    variant: str
    baseline: str = ""


@dataclass(frozen=True)
class Row:
    """A line of the table: for each column some figures, a word, or nothing. The label is the key of the row.

    `best`: the best block instead of the median. The time of one cache line from core to core differs by a factor of five
    with the place that a host gives the cores of a virtual machine, and changes between blocks: a median would compare
    places. The best block of each library had the best place."""
    label: str
    cells: dict
    interval: bool = False
    best: bool = False


REFERENCES = {OPEN_MPI: "openmpi", MPICH: "mpich"}
_BOTH = ("--reference", "openmpi", "--reference", "mpich")
_START_UP = ("--b", "", *_BOTH, "--arguments", "a:init", "--arguments", "b:session", "--arguments", "openmpi:init",
             "--arguments", "mpich:init")
_SOURCES = ("bootstrap", "launcher", "pmix")
_CREATE = tuple(word for source in _SOURCES for word in ("--variant", f"{source}:cid_excid_source={source}"))
RANKS = (2, 8, 16)

RUNS = (
    Run("pingpong", 2, ("pingpong.c",), _BOTH, 20, 70),
    Run("collectives", 16, ("collectives.c",), _BOTH, 5, 80),
    *(Run(f"communicators_{n}", n, ("communicators.c",), _BOTH, 5, seconds)
      for n, seconds in zip(RANKS, (50, 75, 120))),
    *(Run(f"create_{n}", n, ("sessions.c", "create"), (*_CREATE, "--reference", "mpich"), 5, 60) for n in RANKS),
    Run("session_latency", 2, ("session_latency.c",), ("--b", ""), 7, 50),
    *(Run(f"start_up_{n}", n, ("sessions.c",), _START_UP, 40, seconds) for n, seconds in zip(RANKS, (30, 45, 60))),
    *(Run(f"hello_{n}", n, ("hello.c",), ("--system", *_BOTH), 20, 40) for n in (2, 16)),
    Run("quiescence", ALL_CORES, ("quiescence.c",), ("--variant", "polling:wait_spin=3600s", *_BOTH), 5, 210, 0),
)
# The machine's own limit is no MPI program, so patchbay-ab does not run it.
CACHE_LINE = Figure("cache_line", "cache_line_one_way", "a")


def _row(label, runs, metric, interval=False, limit=None, best=False):
    """The same metric of Patchbay and of both reference MPIs."""
    cells = {PATCHBAY: tuple(Figure(run, metric, "a") for run in runs)}
    for column, variant in REFERENCES.items():
        cells[column] = tuple(Figure(run, metric, variant) for run in runs)
    if limit:
        cells[LIMIT] = (limit,)
    return Row(label, cells, interval, best)


def _communicators(label, metric):
    return _row(f"{label}, {_ranks()}", [f"communicators_{n}" for n in RANKS], metric)


def _ranks():
    return " / ".join(str(n) for n in RANKS) + " ranks"


def _create():
    runs = [f"create_{n}" for n in RANKS]
    yield Row(f"MPI_Comm_create_from_group and free, {_ranks()}", {
        PATCHBAY: tuple(Figure(run, "create_from_group", "a") for run in runs), OPEN_MPI: "no sessions",
        MPICH: tuple(Figure(run, "create_from_group", "mpich") for run in runs)})
    for source in _SOURCES:
        yield Row(f"the same with `cid_excid_source={source}`",
                  {PATCHBAY: tuple(Figure(run, "create_from_group", source) for run in runs)})


ROWS = (
    *(_row(f"half round trip, {size}, best block", ["pingpong"], "half_round_trip_" + size.replace(" ", ""),
           limit=CACHE_LINE if size == "8 B" else None, best=True) for size in ("8 B", "4 KiB", "64 KiB", "1 MiB")),
    _row("message rate, 8 B, best block", ["pingpong"], "message_rate_8B", best=True),
    _row("barrier, 16 ranks", ["collectives"], "barrier"),
    _row("8-byte allreduce, 16 ranks", ["collectives"], "allreduce_8B"),
    _communicators("MPI_Comm_dup and free", "dup_free"),
    _communicators("MPI_Comm_split and free", "split_free"),
    _communicators("MPI_Comm_create_group and free", "create_group_free"),
    *_create(),
    Row("first exchange on a new communicator, against one with a uniform CID",
        {PATCHBAY: (Figure("session_latency", "ratio_first_exchange", "a"),)}, True),
    *(_row(f"MPI_Init, {n} ranks", [f"start_up_{n}"], "start_up", True) for n in RANKS),
    *(Row(f"a session and MPI_Comm_create_from_group against MPI_Init, to the first barrier, {n} ranks",
          {PATCHBAY: (Figure(f"start_up_{n}", "first_barrier", "b", "a"),), OPEN_MPI: "no sessions"}, True)
      for n in RANKS),
    *(_row(f"hello world, `mpirun -n {n}`", [f"hello_{n}"], "wall", True) for n in (2, 16)),
    _row("slowdown of a computation on all cores beside ranks in MPI_Barrier", ["quiescence"], "slowdown", True),
    Row("the same with ranks that poll (`wait_spin=3600s`)", {PATCHBAY: (Figure("quiescence", "slowdown", "polling"),)},
        True),
)
