# SPDX-License-Identifier: BSD-3-Clause
"""Writes the table of README.md from results, puts it between its markers, and reads it back."""
import re
import statistics

from comparison import bootstrap_median, bootstrap_ratio
from figures import COLUMNS, ROWS

BEGIN = "<!-- begin: written by ./dev bench --readme -->"
END = "<!-- end: written by ./dev bench --readme -->"
_LARGER = {"ns": "us", "us": "ms", "ms": "s"}
_SMALLER = {"s": "ms", "ms": "us"}
_NUMBER = r"-?\d+(\.\d+)?"
_UNIT = r"(ns|us|ms|s|M/s|%|times)"
_VALUE = rf"{_NUMBER} {_UNIT}"
_LIST = rf"({_NUMBER}( / {_NUMBER})* {_UNIT}|{_VALUE}( / {_VALUE})+)"
CELL = re.compile(rf"({_LIST}|{_VALUE} \({_NUMBER} \.\. {_NUMBER}\)|no sessions|)")
ORIGIN = re.compile(r"`\./dev bench --readme( --quick| --minutes \d+)?` on \d{4}-\d\d-\d\d "
                    r"at commit [0-9a-f]{7,}(, changed)?, "
                    r"in \d+ minutes?: \d+ cores?, .+; Open MPI \S+, MPICH \S+\.")


def _samples(results, figure):
    data = results[figure.run]["samples"][figure.metric]
    return data["values"][figure.variant], data["unit"]


def evaluate(results, figure):
    """Median, its 95 % interval (None where there is none), and the unit of one figure."""
    values, unit = _samples(results, figure)
    if not figure.baseline:
        return statistics.median(values), bootstrap_median(values), unit
    base, _ = _samples(results, figure.__class__(figure.run, figure.metric, figure.baseline))
    return statistics.median(values) / statistics.median(base), bootstrap_ratio(base, values), "x"


def best(results, figure):
    """The best block: the shortest time, or the highest rate."""
    values, unit = _samples(results, figure)
    return max(values) if unit.endswith("/s") else min(values), unit


def _scale(value, unit):
    """Thousands of a unit of time become the next one, and fractions of a long one the one before."""
    factor = 1.0
    while unit in _SMALLER and 0 < abs(value * factor) < 1:
        factor *= 1000
        unit = _SMALLER[unit]
    while unit in _LARGER and abs(value * factor) >= 1000:
        factor /= 1000
        unit = _LARGER[unit]
    return factor, {"percent": "%", "x": "times"}.get(unit, unit)


def _digits(value):
    """Three significant digits, without an exponent."""
    text = f"{value:.3g}"
    return f"{float(text):.0f}" if "e" in text else text


def _cell(results, row, figures):
    if isinstance(figures, str):
        return figures
    shown = []
    for figure in figures:
        if row.best:
            (value, unit), interval = best(results, figure), None
        else:
            value, interval, unit = evaluate(results, figure)
        factor, unit = _scale(value, unit)
        text = _digits(value * factor)
        if row.interval:
            low, high = (_digits(end * factor) for end in interval)
            return f"{text} {unit} ({low} .. {high})"
        shown.append((text, unit))
    if len({unit for _, unit in shown}) == 1:
        return " / ".join(text for text, _ in shown) + " " + shown[0][1]
    return " / ".join(f"{text} {unit}" for text, unit in shown)


def _line(cells):
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def table(results):
    lines = [_line(("figure",) + COLUMNS), _line(["---"] * (1 + len(COLUMNS)))]
    for row in ROWS:
        cells = [_cell(results, row, row.cells[column]) if column in row.cells else "" for column in COLUMNS]
        lines.append(_line([row.label] + cells))
    return "\n".join(lines)


def origin(where):
    """The sentence above the table, of what `bench/readme.py` has found out about the measurement."""
    minutes = max(1, round(where["seconds"] / 60))
    cores = where["cores"]
    extra = " --quick" if where["quick"] else f" --minutes {where['minutes']}" if where.get("minutes") else ""
    return (f"`./dev bench --readme{extra}` on {where['date']} at commit "
            f"{where['commit']}{', changed' if where['changed'] else ''}, in {minutes} minute{'s' * (minutes > 1)}: "
            f"{cores} core{'s' * (cores > 1)}, {where['machine']}; Open MPI {where['openmpi']}, "
            f"MPICH {where['mpich']}.")


def blocks(results):
    counts = [result["blocks"] for result in results.values()]
    return (f"Medians of {min(counts)} to {max(counts)} blocks, in each of which every variant runs once, in random "
            "order; in brackets the 95 % interval; the best block where a row says so.")


def splice(text, results, where):
    """README's text with the table in the place of the one that it had."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md lacks '{BEGIN}' or '{END}'")
    return f"{before}{BEGIN}\n{origin(where)}\n{blocks(results)}\n\n{table(results)}\n{END}{after}"


def problems(text):
    """What is wrong with the table in a README: a list of sentences, empty when all is well."""
    _, begin, rest = text.partition(BEGIN)
    inside, end, _ = rest.partition(END)
    if not begin or not end:
        return [f"'{BEGIN}' or '{END}' is missing"]
    found = []
    lines = [line for line in inside.strip().splitlines() if line]
    if not lines or not ORIGIN.fullmatch(lines[0]):
        found.append("the first line does not say command, date, commit, duration and machine")
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if line.startswith("|")]
    if not rows or rows[0] != ["figure", *COLUMNS]:
        return found + [f"the header is not {_line(('figure',) + COLUMNS)}"]
    known = [row.label for row in ROWS]
    labels = [row[0] for row in rows[2:]]
    found += [f"bench/figures.py has no row '{label}'" for label in labels if label not in known]
    found += [f"the row '{label}' is missing" for label in known if label not in labels]
    if not found and labels != known:
        found.append("the rows are in another order than in bench/figures.py")
    for row, cells in ((row, row[1:]) for row in rows[2:]):
        if len(cells) != len(COLUMNS):
            found.append(f"{row[0]}: {len(cells)} cells instead of {len(COLUMNS)}")
        found += [f"{row[0]}: '{cell}' is no figure" for cell in cells if not CELL.fullmatch(cell)]
        if cells and not cells[0]:
            found.append(f"{row[0]}: there is no figure of Patchbay")
    return found
