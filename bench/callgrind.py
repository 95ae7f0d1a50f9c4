# SPDX-License-Identifier: BSD-3-Clause
"""What callgrind counted in one process."""
import collections
import re


class Profile:
    """functions: names of those that were called. instructions: by the library or program whose code they are, and the
    function."""

    def __init__(self, path):
        self.functions = set()
        self.instructions = collections.Counter()
        names = {"ob": {}, "fn": {}}
        now, of_call = {"ob": "", "fn": ""}, False
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if name := re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?", line):
                    known = names[name[2]].setdefault(name[3], name[4])
                    if not name[1]:  # otherwise of the function that is called
                        now[name[2]] = known
                elif line.startswith("calls="):
                    of_call = True
                elif cost := re.match(r"(?:[-+]?\d+|\*) (\d+)", line):
                    # The line after calls= has what the called function took; it stands at that function, too.
                    self.instructions[now["ob"], now["fn"]] += 0 if of_call else int(cost[1])
                    of_call = False
        self.functions.update(names["fn"].values())

    def of(self, *parts):
        """Instructions of the code of all files with one of these in their path."""
        return sum(count for (file, _), count in self.instructions.items() if any(part in file for part in parts))

    def calls(self, part):
        """The functions that were called and have this in their name."""
        return {name for name in self.functions if part in name}
