# SPDX-License-Identifier: BSD-3-Clause
"""The table of bench/datatype: datatype_table.py RESULT.json...: one row for each operation and datatype, one column for
each size: the ratio of this installation's least time to the least of the fastest other variant."""
import collections
import json
import math
import sys


def ratios(path):
    """Metric -> ratio; of each variant the least sample counts, as in the program itself. Variants as patchbay-ab names
    them: this installation is `after` where two are compared, otherwise `a`."""
    with open(path, encoding="utf-8") as file:
        samples = json.load(file)["samples"]
    for metric, data in samples.items():
        least = {variant: min(values) for variant, values in data["values"].items()}
        own = least.pop("after" if "after" in least else "a")
        other = min(least.values())
        yield metric, own / other if other > 0 else math.inf  # nothing that could be measured, such as 0 KiB of memory


def main(paths):
    rows, sizes = collections.defaultdict(dict), []
    for path in paths:
        for metric, ratio in ratios(path):
            row, size = metric.rsplit("_", 1)
            rows[row][size] = ratio
            if size not in sizes:
                sizes.append(size)
    width = max((len(row) for row in rows), default=0)
    print(" " * width + "".join(f"{size:>9}" for size in sizes))
    for row in sorted(rows, key=lambda name: name.split("_", 1)[0]):
        print(f"{row:{width}}" + "".join(f"{rows[row][size]:9.2f}" if size in rows[row] else " " * 9 for size in sizes))


main(sys.argv[1:])
