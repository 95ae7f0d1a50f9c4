#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures every figure of README.md in one run and writes its table: ./dev bench --readme.

Every run is bounded: figures.py states the number of its blocks and the seconds after which no further block begins."""
import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(ROOT, "tools", "ab")]
import figures  # noqa: E402  (found through the line above)
import readme_table  # noqa: E402

CACHE_LINE_RUNS = 5
# What compiling, the last block of each run, and the cache line take beside the seconds of the runs.
OVERHEAD = 120


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def cores():
    return len(os.sched_getaffinity(0))


def reference_version(name):
    """The version of a reference MPI, as its mpirun prints it."""
    text = output("mpirun." + name, "--version")
    found = re.search(r"(?:\((?:Open MPI|OpenRTE)\)|Version:)\s+(\S+)", text)
    if not found:
        raise SystemExit(f"bench/readme.py: mpirun.{name} --version does not state a version:\n{text}")
    return found.group(1)


def machine():
    """The processor and the kernel."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = " ".join(line.partition(":")[2].split())
                break
    return f"{model}, Linux {os.uname().release}, g++ {output('g++', '-dumpfullversion')}"


def commit():
    """The commit, and whether anything but README.md differs from it."""
    changed = output("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!README.md")
    return output("git", "rev-parse", "--short", "HEAD"), bool(changed)


def shortened(run, quick):
    return (1, 0) if quick else (run.blocks, run.warm_up)


def measure(prefix, run, quick, share, folder):
    """One call of patchbay-ab; its results as it writes them."""
    blocks, warm_up = shortened(run, quick)
    path = os.path.join(folder, run.name + ".json")
    program = [os.path.join(HERE, run.program[0]), *run.program[1:]]
    command = [os.path.join(prefix, "bin", "patchbay-ab"), "-n", str(run.ranks or cores()), "--blocks", str(blocks),
               "--warm-up", str(warm_up), "--seconds", str(max(1, round(run.seconds * share))), "--limit", "300",
               "--json", path,
               *run.options, "--", *program]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def cache_line(folder):
    """The machine's own limit, in the form of a result of patchbay-ab."""
    binary = os.path.join(folder, "cache_line")
    subprocess.run(["g++", "-std=c++20", "-O2", os.path.join(HERE, "cache_line.cpp"), "-o", binary], check=True)
    values = []
    for _ in range(CACHE_LINE_RUNS):
        words = output(binary).split()
        values.append(float(words[2]))
    unit = words[3]
    return {"blocks": CACHE_LINE_RUNS, "samples": {"cache_line_one_way": {"unit": unit, "values": {"a": values}}}}


def measure_all(prefix, quick, minutes, folder):
    if cores() < 2:
        raise SystemExit("bench/readme.py: the figures of README.md need at least two cores")
    revision, changed = commit()
    where = {"date": datetime.date.today().isoformat(), "commit": revision, "changed": changed, "quick": quick,
             "minutes": minutes,
             "cores": cores(), "machine": machine()}
    where.update((name, reference_version(name)) for name in figures.REFERENCES.values())
    share = min(1.0, minutes / bound()) if minutes else 1.0
    started = time.monotonic()
    results = {"cache_line": cache_line(folder)}
    for number, run in enumerate(figures.RUNS, 1):
        print(f"[{number}/{len(figures.RUNS)}] {run.name}, {time.monotonic() - started:.0f} s so far", file=sys.stderr)
        results[run.name] = measure(prefix, run, quick, share, folder)
    where["seconds"] = time.monotonic() - started
    return results, where


def bound():
    """The minutes after which ./dev bench --readme has ended."""
    return -(-(sum(run.seconds for run in figures.RUNS) + OVERHEAD) // 60)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --readme", description=__doc__)
    parser.add_argument("prefix", help="an installed Patchbay")
    parser.add_argument("--quick", action="store_true", help="one block of each run, to try it out")
    parser.add_argument("--minutes", type=int,
                        help="begin no further block of a run when its share of so many minutes is used up")
    parser.add_argument("--print", action="store_true", dest="only_print", help="leave README.md as it is")
    options = parser.parse_args()
    minutes = min(bound(), options.minutes or bound())
    print(f"This takes about {minutes} minutes; nothing else should use the cores.", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="patchbay-readme-") as folder:
        results, where = measure_all(os.path.realpath(options.prefix), options.quick, options.minutes, folder)
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as file:
        text = readme_table.splice(file.read(), results, where)
    wrong = readme_table.problems(text)
    if wrong:
        raise SystemExit("bench/readme.py: the new table is not in order: " + "; ".join(wrong))
    if options.only_print:
        print(text.partition(readme_table.BEGIN)[2].partition(readme_table.END)[0].strip())
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"README.md: the table is written, after {where['seconds'] / 60:.1f} minutes.", file=sys.stderr)


if __name__ == "__main__":
    main()
