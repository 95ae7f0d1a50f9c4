#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs fuzz targets, one after the other: fuzz.py --programs DIRECTORY SECONDS [--keep] [TARGET]...

SECONDS is the time of all targets together, of which each gets the same part. A target begins with its kept inputs
(tests/fuzz/corpus/TARGET) and with what earlier runs have found, which is kept outside the source tree. The table at the
end has the runs, the edges of the program that were reached, the new inputs of this run and the crashes of each target;
below it stands, for each crash, the command that repeats it. With --keep, inputs that reach edges which the kept ones do
not reach are added to these, smallest first, as long as the folder stays small. The exit status is 1 after a crash.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests/fuzz/corpus"
LONGEST_INPUT = 1024
KEPT_BYTES = 6 * 1024  # of one target in the source tree
KEPT_INPUT = 300  # a longer input is kept by hand or not at all
OPTIONS = ["-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=1"]
# A stack that a deep input exhausts is to be found with a short one.
ENVIRONMENT = {"ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}


@dataclass
class Outcome:
    target: str
    runs: int = 0
    edges: int = 0
    new_inputs: int = 0
    crashes: list = field(default_factory=list)
    lost: str = ""  # why the program ended without a crash and without an end


def all_targets():
    return sorted(folder.name for folder in CORPUS.iterdir() if folder.is_dir())


def work_folder(target):
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "patchbay/fuzz" / target
    (folder / "inputs").mkdir(parents=True, exist_ok=True)
    (folder / "crashes").mkdir(exist_ok=True)
    return folder


def run_program(program, arguments, log):
    environment = {**os.environ, **ENVIRONMENT}
    with open(log, "w", encoding="utf-8") as output:
        status = subprocess.run([program, *arguments], stdout=output, stderr=subprocess.STDOUT, env=environment,
                                check=False).returncode
    return status, log.read_text(encoding="utf-8", errors="replace")


def last_number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def fuzz(target, program, seconds):
    outcome = Outcome(target)
    folder = work_folder(target)
    before = set((folder / "crashes").iterdir())
    status, text = run_program(program, [
        *OPTIONS, f"-max_total_time={seconds}", f"-max_len={LONGEST_INPUT}", f"-artifact_prefix={folder}/crashes/",
        str(folder / "inputs"), str(CORPUS / target)], folder / "log")
    outcome.runs = last_number(r"stat::number_of_executed_units: (\d+)", text)
    outcome.edges = last_number(r" cov: (\d+)", text)
    outcome.new_inputs = last_number(r"stat::new_units_added: +(\d+)", text)
    outcome.crashes = sorted(set((folder / "crashes").iterdir()) - before)
    if status != 0 and not outcome.crashes:
        outcome.lost = f"the program ended with status {status}: see {folder}/log"
    return outcome


def keep(target, program):
    """Copies inputs that reach something new to the source tree; returns their number."""
    folder = work_folder(target)
    size = sum(file.stat().st_size for file in (CORPUS / target).iterdir())
    added = 0
    with tempfile.TemporaryDirectory() as name:
        merged = Path(name) / "merged"
        shutil.copytree(CORPUS / target, merged)
        known = {file.name for file in merged.iterdir()}
        # By edges alone: how often each is passed would keep many inputs that differ in nothing else.
        run_program(program, ["-merge=1", "-use_counters=0", f"-max_len={KEPT_INPUT}", str(merged),
                              str(folder / "inputs")], folder / "merge.log")
        new = [file for file in merged.iterdir() if file.name not in known]
        for file in sorted(new, key=lambda f: f.stat().st_size):
            size += file.stat().st_size
            if size > KEPT_BYTES:
                break
            shutil.copyfile(file, CORPUS / target / file.name[:12])
            added += 1
    return added


def print_table(outcomes):
    print(f"{'target':<20}{'runs':>12}{'edges':>8}{'new inputs':>12}{'crashes':>9}")
    for o in outcomes:
        print(f"{o.target:<20}{o.runs:>12}{o.edges:>8}{o.new_inputs:>12}{len(o.crashes):>9}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help="the folder with the programs TARGET_fuzzer")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("seconds", type=int)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_intermixed_args()
    unknown = set(options.targets) - set(all_targets())
    if unknown or options.seconds < 1:
        sys.exit("fuzz.py: SECONDS is at least 1, and the targets are " + ", ".join(all_targets()))
    targets = options.targets or all_targets()
    outcomes = []
    for target in targets:
        program = options.programs / f"{target}_fuzzer"
        outcomes.append(fuzz(target, program, max(1, options.seconds // len(targets))))
        print(f"fuzz: {target}: {outcomes[-1].runs} runs", file=sys.stderr)
        if options.keep:
            print(f"fuzz: {target}: {keep(target, program)} inputs added to the kept ones", file=sys.stderr)
    print_table(outcomes)
    for o in outcomes:
        for crash in o.crashes:
            print(f"crash: {options.programs}/{o.target}_fuzzer {crash}")
        if o.lost:
            print(f"{o.target}: {o.lost}")
    if any(o.crashes for o in outcomes):
        print("A crash that has been mended: copy its input to tests/fuzz/corpus/TARGET, where its test repeats it.")
    sys.exit(1 if any(o.crashes or o.lost for o in outcomes) else 0)


if __name__ == "__main__":
    main()
