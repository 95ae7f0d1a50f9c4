#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compile_commands.json for clangd and clang-tidy, from what Bazel would run:

bazel aquery 'mnemonic("CppCompile", //...)' --output=jsonproto |     compile_commands.py ROOT OUTPUT_BASE >compile_commands.json"""
import json
import os
import sys

# What gcc alone understands, what only Bazel needs, and -Werror: clang-tidy decides itself what is an error.
DROPPED = {"-fno-canonical-system-headers", "-Wno-free-nonheap-object", "-Wunused-but-set-parameter", "-Werror", "-MD"}
# The precompiled headers are g++'s, and clang ends with an error when it finds one (-include).
DROPPED_WITH_VALUE = {"-MF", "-o", "-include"}
DROPPED_BEGINNINGS = ("-frandom-seed=", "-D__DATE__=", "-D__TIMESTAMP__=", "-D__TIME__=")


def options(arguments, output_base):
    """The compiler's arguments, such that they hold in the source tree. Paths of external repositories are relative to
    Bazel's execution root, where the source tree's bazel-out lies."""
    kept = []
    words = iter(arguments)
    for word in words:
        if word in DROPPED_WITH_VALUE:
            next(words)
        elif word.startswith("external/"):
            kept.append(os.path.join(output_base, word))
        elif word not in DROPPED and not word.startswith(DROPPED_BEGINNINGS):
            kept.append(word)
    return kept


def entries(actions, root, output_base):
    """One entry per source file, ordered by name."""
    found = {}
    for action in actions:
        arguments = action["arguments"]
        if "-c" not in arguments:
            continue
        source = arguments[arguments.index("-c") + 1]
        found.setdefault(source, {"directory": root, "file": source, "arguments": options(arguments, output_base)})
    return [found[source] for source in sorted(found)]


def main():
    root, output_base = sys.argv[1:]
    result = entries(json.load(sys.stdin)["actions"], root, output_base)
    if not result:
        sys.exit("compile_commands.py: Bazel names no compilation")
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
