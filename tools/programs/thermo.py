#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the thermodynamic output in two logs of LAMMPS: thermo.py SERIAL PARALLEL TOLERANCE LAST_STEP

Sums over atoms are rounded differently with another number of ranks, and a simulation amplifies that; therefore numbers
may differ by TOLERANCE of the largest number in their column, and steps after LAST_STEP are not compared.
"""
import re
import sys


def tables(path):
    """The tables of a log, each as (names of the columns, rows of numbers), in both of LAMMPS's forms."""
    found, inside = [], False
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            step = re.match(r"-+ Step +(\d+) -+ CPU", line)
            if words[:1] == ["Step"] or (step and not inside):
                found.append((words if not step else ["Step"], []))
                inside = True
            elif line.startswith("Loop time"):
                inside = False
            if step:
                found[-1][1].append([float(step.group(1))])
            elif inside:
                add_line(found[-1], line)
    return found


def add_line(table, line):
    """Adds a line of numbers, or of pairs NAME = NUMBER, to a table; other lines are warnings."""
    names, rows = table
    pairs = re.findall(r"(\w+) += +(\S+)", line)
    try:
        numbers = [float(number) for _, number in pairs] or [float(word) for word in line.split()]
    except ValueError:
        return
    if pairs and rows:
        rows[-1] += numbers
        names += [name for name, _ in pairs] if len(rows) == 1 else []
    elif len(numbers) == len(names):
        rows.append(numbers)


def until(found, last_step):
    """The first table up to a step, and the later ones where their first step is not past it."""
    return [
        (names, [row for row in rows if row[0] <= last_step])
        for names, rows in found
        if not rows or rows[0][0] <= last_step
    ]


def compare_table(names, left, right, tolerance):
    if len(left) != len(right):
        return f"{len(left)} rows in one log, {len(right)} in the other"
    if any(len(row) != len(names) for row in left + right):
        return "a row has another number of columns"
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
    tolerance, last_step = float(arguments[2]), float(arguments[3])
    left, right = (until(tables(path), last_step) for path in arguments[:2])
    problem = compare(left, right, tolerance)
    if problem:
        print(problem)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
