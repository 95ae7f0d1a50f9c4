#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the order in which the linker places functions: function_order.py PREFIX [--output FILE]

Functions that one call needs lie together, and the pages of the library that a process needs for it are fewer. The
installation PREFIX runs calls.c under valgrind, one subject after the other; its libraries must not be stripped. First
come the functions that most subjects call, then those of each subject, those that take the most instructions first."""
import argparse
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, f"{HERE}/../../bench")
import callgrind  # noqa: E402  (found through the line above)

SUBJECTS = ["messages", "collectives", "communicators", "windows"]
MOST = len(SUBJECTS) - 1  # a function of so many subjects belongs to none of them


def measure(prefix, subject, folder):
    """Instructions of each function of our own libraries, by the name that the linker knows, of all ranks."""
    program = f"{folder}/calls"
    if not os.path.exists(program):
        subprocess.run([f"{prefix}/bin/mpicc", "-O2", f"{HERE}/calls.c", "-o", program], check=True)
    subprocess.run([f"{prefix}/bin/mpirun", "-n", "4", "valgrind", "-q", "--tool=callgrind", "--demangle=no",
                    "--toggle-collect=work", f"--callgrind-out-file={folder}/{subject}.%p", program, subject], check=True)
    total = collections.Counter()
    for path in glob.glob(f"{folder}/{subject}.*"):
        for (library, function), count in callgrind.Profile(path).instructions.items():
            if re.search(r"/(libmpi_abi|mca_)[^/]*$", library):
                total[function.split("'")[0]] += count
    return total


def order(of_subject):
    """The names, from Counters of instructions by name."""
    subjects_of = collections.Counter(name for counts in of_subject for name in counts)
    total = sum(of_subject, collections.Counter())
    shared = [name for name, subjects in subjects_of.items() if subjects >= MOST]
    result = sorted(shared, key=lambda name: (-subjects_of[name], -total[name], name))
    for counts in of_subject:
        mine = [name for name in counts if subjects_of[name] < MOST]
        result += sorted(mine, key=lambda name, counts=counts: (-subjects_of[name], -counts[name], name))
    return list(dict.fromkeys(result))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--output", default=f"{HERE}/function_order.txt")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names = order([measure(os.path.realpath(given.prefix), subject, folder) for subject in SUBJECTS])
    with open(given.output, "w", encoding="utf-8") as file:
        file.writelines(f"{name}\n" for name in names)
    print(f"{len(names)} functions")


if __name__ == "__main__":
    main()
