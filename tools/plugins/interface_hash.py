#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the header with the hash of the headers that a component may include: interface_hash.py RELEASE HEADER... >FILE

A header counts with its name, as it is included, and with its text without comments and layout. The header that this
program writes does not count, so that an installation's include/patchbay can be given as it is, from inside it."""
import hashlib
import re
import sys

OUTPUT = "core/component/interface_hash.h"
# Literals are kept as they are; a comment becomes a blank.
TOKEN = re.compile(r'R"([^()\\\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
# The apostrophe in 1'000 begins no literal.
DIGITS = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")


def without_comments(text):
    def kept(found):
        return " " if found.group().startswith(("//", "/*")) else found.group()

    return TOKEN.sub(kept, DIGITS.sub("", text))


def normalized(text):
    """The text without comments; one blank for each white space, and a line for each preprocessor directive."""
    lines = without_comments(text.replace("\\\n", " ")).split("\n")
    words = []
    for line in lines:
        line = " ".join(line.split())
        words.append(f"\n{line}\n" if line.startswith("#") else line)
    return " ".join(word for word in words if word)


def interface_hash(headers):
    """Of (name, text) pairs: 64 bits in hexadecimal digits."""
    digest = hashlib.sha256()
    for name, text in sorted(headers):
        digest.update(f"{name}\0{normalized(text)}\0".encode())
    return digest.hexdigest()[:16]


def main(arguments):
    release, *names = arguments
    headers = []
    for name in names:
        name = name.removeprefix("./")
        if name != OUTPUT:
            with open(name, encoding="utf-8") as file:
                headers.append((name, file.read()))
    if not headers:
        sys.exit("interface_hash.py: no header was given")
    print(f"""// SPDX-License-Identifier: BSD-3-Clause
// Written by the build (tools/plugins/interface_hash.py).
#pragma once

namespace patchbay {{

// Of all headers that a component may include. A component that was compiled with other ones is refused.
inline constexpr char interface_hash[] = "{interface_hash(headers)}";
// The release of Patchbay MPI that the headers belong to.
inline constexpr char interface_release[] = "{release}";

}} // namespace patchbay""")


if __name__ == "__main__":
    main(sys.argv[1:])
