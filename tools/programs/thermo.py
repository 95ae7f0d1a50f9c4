#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the thermodynamic output in two logs of LAMMPS: thermo.py SERIAL PARALLEL [TOLERANCE]

Sums over atoms are rounded differently with another number of ranks, and a simulation amplifies that; therefore numbers
may differ by TOLERANCE of the largest number in their column.
"""
import sys


def tables(path):
    """The tables of a log, each as (names of the columns, rows of numbers)."""
    found, rows = [], None
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["Step"]:
                rows = []
                found.append((words, rows))
            elif line.startswith("Loop time"):
                rows = None
            elif rows is not None:
                try:
                    numbers = [float(word) for word in words]
                except ValueError:
                    continue  # a warning between the rows
                if len(numbers) == len(found[-1][0]):
                    rows.append(numbers)
    return found


def compare_table(names, left, right, tolerance):
    if len(left) != len(right):
        return f"{len(left)} rows in one log, {len(right)} in the other"
    for column, name in enumerate(names):
        scale = max(abs(row[column]) for row in left)
        for a, b in zip(left, right):
            if not abs(a[column] - b[column]) <= tolerance * scale:
                return f"step {a[0]:g}: {name} is {a[column]:.10g} and {b[column]:.10g}"
    return ""


def compare(left, right, tolerance):
    """What differs, "" for nothing. A log without numbers is a difference."""
    if not left or not all(rows for _, rows in left):
        return "the first log has no thermodynamic output"
    if [names for names, _ in left] != [names for names, _ in right]:
        return "the logs have other tables"
    for (names, a), (_, b) in zip(left, right):
        problem = compare_table(names, a, b, tolerance)
        if problem:
            return problem
    return ""


def main(arguments):
    tolerance = float(arguments[2]) if len(arguments) > 2 else 1e-6
    problem = compare(tables(arguments[0]), tables(arguments[1]), tolerance)
    if problem:
        print(problem)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
