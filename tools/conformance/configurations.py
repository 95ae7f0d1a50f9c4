# SPDX-License-Identifier: BSD-3-Clause
"""The ways in which the suite is run: which components, which thread level, which build of the library."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Configuration:
    name: str
    about: str
    parameters: tuple = ()  # (name, value) pairs, as for mpirun --mca
    environment: dict = field(default_factory=dict)
    every: int = 1  # one test of so many is run
    sanitizer: bool = False  # the installation was built with the address sanitizer


CONFIGURATIONS = (
    Configuration("default", "no parameters"),
    # The suite's own variable: MTest_Init asks for this level.
    Configuration("multiple", "MPI_THREAD_MULTIPLE", environment={"MTEST_THREADLEVEL_DEFAULT": "multiple"}),
    Configuration("coll-basic", "collectives of coll/basic only", (("coll", "basic,inter,self"),)),
    Configuration("coll-tuned", "coll/tuned, and coll/basic for what it passes on", (("coll", "tuned,basic,inter,self"),)),
    Configuration("cid-mask", "communicator identifiers of cid/mask", (("cid", "mask"),)),
    Configuration("cid-consensus", "communicator identifiers of cid/consensus", (("cid", "consensus"),)),
    Configuration("osc-pt2pt", "one-sided communication by messages only", (("osc", "pt2pt"),)),
    Configuration("osc-rdma", "osc/rdma, and osc/pt2pt for the windows that it does not serve", (("osc", "rdma,pt2pt"),)),
    Configuration("two-copies", "no single copy in btl/sm", (("btl_sm_single_copy", "none"),)),
    Configuration("asan", "address sanitizer, one test of three", every=3, sanitizer=True),
)
DEFAULT = CONFIGURATIONS[0]


def named(words):
    """The configurations of these names, each once; `all` means all that need no installation of their own. ValueError
    for another name."""
    by_name = {one.name: one for one in CONFIGURATIONS}
    names = []
    for word in words:
        if word != "all" and word not in by_name:
            raise ValueError(f"there is no configuration {word}; there are all, {', '.join(by_name)}")
        names += [one.name for one in CONFIGURATIONS if not one.sanitizer] if word == "all" else [word]
    return [by_name[name] for name in dict.fromkeys(names)]
