# SPDX-License-Identifier: BSD-3-Clause
"""What patchbay-ab computes from samples: medians, ratios, intervals, verdicts."""
import random
import statistics


LEAST_BLOCKS = 2  # with fewer samples the interval of the ratio is a point


def bootstrap_ratio(a, b, rounds=2000, seed=1):
    """95 % interval of median(b) / median(a); a[i] and b[i] come from the same block and are drawn together."""
    if len(a) != len(b) or not a:
        raise ValueError("the two variants need the same number of samples, one per block")
    generator = random.Random(seed)
    blocks = range(len(a))
    ratios = []
    for _ in range(rounds):
        drawn = generator.choices(blocks, k=len(a))
        below = statistics.median(a[i] for i in drawn)
        above = statistics.median(b[i] for i in drawn)
        if below <= 0:
            return None  # what is left would be the draws of untypical blocks
        ratios.append(above / below)
    ratios.sort()
    return ratios[int(0.025 * len(ratios))], ratios[min(len(ratios) - 1, int(0.975 * len(ratios)))]


def bootstrap_median(values, rounds=2000, seed=1):
    """95 % interval of the median of the values."""
    if not values:
        raise ValueError("the median of no sample has no interval")
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(rounds))
    return medians[int(0.025 * rounds)], medians[min(rounds - 1, int(0.975 * rounds))]


def verdict(interval, better, name):
    """The verdict that follows from the interval of (name / first), as text."""
    if interval is None:
        return "no ratio: the first variant measured 0 or less"
    low, high = interval
    if low <= 1 <= high:
        return "no difference shown"
    gain = (high < 1) == (better == "lower")
    return f"{name} is {'better' if gain else 'worse'}"


def compare(samples, baseline, names):
    """samples[metric] = {"unit", "better", "values": {variant: [one per block]}} -> rows for a table or JSON."""
    rows = []
    for metric, data in samples.items():
        base = data["values"].get(baseline)
        for name in names:
            values = data["values"].get(name)
            if not values:
                continue
            row = {"metric": metric, "unit": data["unit"], "better": data["better"], "variant": name,
                   "median": statistics.median(values), "min": min(values), "max": max(values), "runs": len(values)}
            if name != baseline and base and len(base) == len(values):
                middle = statistics.median(base)
                row["ratio"] = row["median"] / middle if middle > 0 else None
                enough = len(values) >= LEAST_BLOCKS
                row["interval"] = bootstrap_ratio(base, values) if enough else None
                row["verdict"] = (verdict(row["interval"], data["better"], name) if enough
                                  else "too few blocks for a verdict")
            rows.append(row)
    return rows


def table(rows, baseline):
    """Rows as aligned text; each column is as wide as what is in it."""
    cells = [("metric", "variant", "median", "unit", "min", "max", "ratio to " + baseline, "95 % interval", "verdict")]
    for row in rows:
        ratio = f"{row['ratio']:.3f}" if row.get("ratio") is not None else ""
        interval = "{:.3f} .. {:.3f}".format(*row["interval"]) if row.get("interval") else ""
        cells.append((row["metric"], row["variant"], f"{row['median']:.5g}", row["unit"], f"{row['min']:.5g}",
                      f"{row['max']:.5g}", ratio, interval, row.get("verdict", "")))
    widths = [max(map(len, column)) for column in zip(*cells)]
    sides = "<<><>>>><"
    return "\n".join("  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths)).rstrip()
                     for line in cells)
