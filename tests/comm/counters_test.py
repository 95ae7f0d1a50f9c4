#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What naming communicators costs, by the counters that --mca cid_stats 1 prints.

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
    names = ("named", "rounds", "pgcids", "derived", "extended", "answers")
    found = {int(match[1]): dict(zip(names, map(int, match.groups()[1:]))) for match in LINE.finditer(done.stdout)}
    assert sorted(found) == list(range(ranks)), "not every rank has printed its counters"
    return found


def first_messages(prefix, program):
    """At most one answer for each communicator and peer; none where both have spoken."""
    excid = {"cid": "excid"}
    late = counters(prefix, 2, excid, program, "late")
    assert late[0]["extended"] >= late[0]["named"] == 1000, "the first message was not named by exCID"
    assert late[0]["answers"] <= 1000 and late[1]["answers"] == 0, "too many answers"
    both = counters(prefix, 2, excid, program, "both")
    # Where one process is slow the other's message comes before its own is sent: then it is told, and answers instead.
    answers = both[0]["answers"] + both[1]["answers"]
    assert answers < 500, "they did not speak at the same time"
    assert both[0]["extended"] + both[1]["extended"] == 2000 - answers, "more than the first message was named by exCID"
    apart = counters(prefix, 2, excid, program, "apart")
    for rank in (0, 1):
        # What the other one has not made yet is named by exCID and told at once when it is made; the rest is known.
        assert apart[rank]["extended"] == 1000, "the messages did not come before their communicators"
        assert apart[rank]["answers"] <= 1000, "too many answers"
    cancelled = counters(prefix, 2, excid, program, "cancelled")
    assert cancelled[1]["extended"] <= 1, "what a cancelled message has told was forgotten"
    stream = counters(prefix, 2, excid, program, "stream")
    assert stream[0]["extended"] <= 50, "a sender that never waits does not see the answer"


def fragmentation(prefix, program):
    """Holes that differ from process to process: flat for excid, one more round at most for mask, far more for consensus."""
    cost = {}
    for component in ("excid", "mask", "consensus"):
        for holes in (0, 4000):
            found = counters(prefix, 2, {"cid": component}, program, str(holes))
            # Communicators of one process are named without anybody else, but count as well.
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
