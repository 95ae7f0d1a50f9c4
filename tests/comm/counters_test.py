#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The cost of CID allocation, in the counters that --mca cid_stats 1 prints.

Arguments: PREFIX, the program first_messages, the program fragmentation.
"""

import os
import re
import subprocess
import sys

LINE = re.compile(r"cid: rank (\d+): (\d+) communicators, (\d+) rounds, (\d+) PGCIDs, (\d+) derived, "
                  r"(\d+) extended headers, (\d+) CID acknowledgements")


def counters(prefix, ranks, parameters, *command):
    """The counters of each rank."""
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(prefix, "lib/libmpi_abi.so.1"))))
    options = ["--mca", "cid_stats", "1"]
    for name, value in parameters.items():
        options += ["--mca", name, value]
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(prefix, "lib"), HOME=os.environ.get("TEST_TMPDIR", "/tmp"))
    command = [os.path.join(prefix, "bin/mpirun"), "--timeout", "60", "-n", str(ranks), *options,
               os.path.realpath(command[0]), *command[1:]]
    print("+", " ".join(command), flush=True)
    done = subprocess.run(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=90,
                          check=False)
    print(done.stdout, end="", flush=True)
    assert done.returncode == 0, f"exit status {done.returncode}"
    names = ("communicators", "rounds", "pgcids", "derived", "extended", "acknowledgements")
    found = {int(match[1]): dict(zip(names, map(int, match.groups()[1:]))) for match in LINE.finditer(done.stdout)}
    assert sorted(found) == list(range(ranks)), "not every rank has printed its counters"
    return found


def first_messages(prefix, program):
    """At most one CID acknowledgement for each communicator and peer; none where both processes have sent a message."""
    excid = {"cid": "excid"}
    late = counters(prefix, 2, excid, program, "late")
    assert late[0]["extended"] >= late[0]["communicators"] == 1000, "the first message had no extended header"
    assert late[0]["acknowledgements"] <= 1000 and late[1]["acknowledgements"] == 0, "too many acknowledgements"
    both = counters(prefix, 2, excid, program, "both")
    # A slow process may receive the peer's first message before it sends its own. It then knows the peer's index, sends
    # a plain header, and acknowledges the index.
    acknowledgements = both[0]["acknowledgements"] + both[1]["acknowledgements"]
    assert acknowledgements < 500, "the processes did not send at the same time"
    assert both[0]["extended"] + both[1]["extended"] == 2000 - acknowledgements, "a later message had an extended header"
    apart = counters(prefix, 2, excid, program, "apart")
    for rank in (0, 1):
        # Messages on a communicator that the peer has not made yet have an extended header. The peer acknowledges the
        # index as soon as it makes the communicator. For the other half the index is known already.
        assert apart[rank]["extended"] == 1000, "the messages did not arrive before their communicators were made"
        assert apart[rank]["acknowledgements"] <= 1000, "too many acknowledgements"
    cancelled = counters(prefix, 2, excid, program, "cancelled")
    assert cancelled[1]["extended"] <= 1, "the index that the cancelled message carried was lost"
    stream = counters(prefix, 2, excid, program, "stream")
    assert stream[0]["extended"] <= 50, "a sender that never waits does not handle the acknowledgement"


def fragmentation(prefix, program):
    """Holes that differ between processes: no more rounds for excid, at most one more for mask, far more for consensus."""
    cost = {}
    for component in ("excid", "mask", "consensus"):
        for holes in (0, 4000):
            found = counters(prefix, 2, {"cid": component}, program, str(holes))
            # Communicators of one process need no round over several processes, but the counter includes them.
            cost[component, holes] = found[0]["rounds"] - (holes if component != "excid" else 0)
    assert cost["excid", 4000] <= 2 + 4000 // 255 + 1 and cost["excid", 0] <= 3, cost
    assert cost["mask", 0] == 500 and cost["mask", 4000] <= 2 * 500, cost
    assert cost["consensus", 0] == 500, cost
    assert cost["consensus", 4000] >= 2 * 500, cost


def main():
    prefix, messages, holes = sys.argv[1:]
    first_messages(prefix, messages)
    fragmentation(prefix, holes)


if __name__ == "__main__":
    main()
