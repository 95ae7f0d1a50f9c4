# SPDX-License-Identifier: BSD-3-Clause
"""What callgrind counted in one process."""
import collections
import re


class Profile:
    """functions: names of those that were called. instructions: by the library or program whose code they are."""

    def __init__(self, path):
        self.functions = set()
        self.instructions = collections.Counter()
        file, files, of_call = "", {}, False
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if name := re.match(r"c?fn=\(\d+\) (.*)", line):
                    self.functions.add(name[1])
                elif name := re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line):
                    files.setdefault(name[2], name[3])
                    file = file if name[1] else files[name[2]]
                elif line.startswith("calls="):
                    of_call = True
                elif cost := re.match(r"(?:[-+]?\d+|\*) (\d+)", line):
                    # The line after calls= has what the called function took; it stands at that function, too.
                    self.instructions[file] += 0 if of_call else int(cost[1])
                    of_call = False

    def of(self, *parts):
        """Instructions of the code of all files with one of these in their path."""
        return sum(count for file, count in self.instructions.items() if any(part in file for part in parts))

    def calls(self, part):
        """The functions that were called and have this in their name."""
        return {name for name in self.functions if part in name}
