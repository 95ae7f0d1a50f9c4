#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the #include lines of the source tree and checks them against the layers of docs/architecture.md.

  layers.py check [--root DIR]           fails on an include of a higher layer or of one beside
  layers.py draw [--root DIR] FILE.svg   draws the layers with the includes that the code has (needs graphviz)
  layers.py compare [--root DIR] FILE.svg   fails when the drawing no longer shows the code's includes
"""
import argparse
import html
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

# From the bottom to the top: a folder may include the folders of the lines above its own. Folders of one line stand
# side by side and do not include one another.
LAYERS = [
    ["core"],
    ["include"],
    ["object"],
    ["frameworks"],
    ["components", "mpi/check", "mpi/instance"],
    ["mpi/bootstrap", "mpi/threads"],
    ["mpi/communicators"],
    ["mpi/channels", "mpi/dynamic", "mpi/topologies", "mpi/windows"],
    ["mpi/library"],
    ["mpi/tool"],
    ["mpi/api"],
    ["tools/info"],
]
# Folders that stand beside the stack, with all that they may include.
BESIDE = {
    "launch": {"core"},
    "plugins": {"core", "include", "object", "frameworks"},
    "tools/pch": {"core", "object", "frameworks", "mpi/instance"},
}
# What may include everything.
UNCHECKED = ("tests/", "bench/", "examples/")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
LEVEL = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
FOLDERS = sorted([*LEVEL, *BESIDE], key=len, reverse=True)


def folder_of(path):
    """The folder of the table that a file belongs to; None: it is in none."""
    return next((folder for folder in FOLDERS if path.startswith(folder + "/")), None)


def component_of(path):
    """components/FRAMEWORK/NAME; None for other files and for components/common."""
    parts = path.split("/")
    return "/".join(parts[:3]) if parts[0] == "components" and len(parts) > 3 and parts[1] != "common" else None


def read_includes(root):
    """Every (file, included file) of the tree, by paths from its top."""
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix in (".h", ".cpp", ".c") and not name.startswith((*UNCHECKED, "bazel-", ".")):
            for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
                if "/" in included:
                    yield name, included


def allowed(name, included):
    """Whether the file may include the other one; both are in folders of the table."""
    source, target = folder_of(name), folder_of(included)
    if source == target:
        return component_of(included) in (None, component_of(name))
    if source in BESIDE:
        return target in BESIDE[source]
    return target in LEVEL and LEVEL[target] < LEVEL[source]


def find_problems(includes):
    """One line per include that is not allowed."""
    for name, included in includes:
        source, target = folder_of(name), folder_of(included)
        if source is None:
            yield f"{name}: its folder is in no layer; add it to LAYERS in tools/layers/layers.py"
        elif target is None:
            yield f"{name} includes {included}, whose folder is in no layer"
        elif not allowed(name, included):
            yield f"{name} includes {included}: {source} must not include {target}"


def count_edges(includes):
    """How many includes run from one folder to another."""
    return Counter(
        (folder_of(name), folder_of(included))
        for name, included in includes
        if None not in (folder_of(name), folder_of(included))
        and folder_of(name) != folder_of(included)
        and allowed(name, included)
    )


def edge_lines(edges):
    return [f"{source} -> {target}" for source, target in sorted(edges)]


def to_dot(edges):
    lines = [
        "digraph layers {",
        'rankdir=BT; ranksep=0.5; node [shape=box, style="rounded,filled", fillcolor="#eef3fa", fontname="sans-serif"];',
        'edge [color="#5b6b80"];',
    ]
    for folders in LAYERS:
        lines.append("{rank=same; " + "; ".join(f'"{folder}"' for folder in folders) + ";}")
    lines += [f'"{folder}" [style="rounded,filled,dashed"];' for folder in BESIDE]
    lines += [f'"{lower[0]}" -> "{upper[0]}" [style=invis];' for lower, upper in zip(LAYERS, LAYERS[1:])]
    lines += [
        f'"{source}" -> "{target}" [penwidth={0.6 + min(count, 120) / 40:.1f}, constraint=false, tooltip="{count} includes"];'
        for (source, target), count in sorted(edges.items())
    ]
    return "\n".join([*lines, "}"])


def draw(edges, path):
    """Writes the drawing, with the list of its arrows in <desc> for compare."""
    svg = subprocess.run(["dot", "-Tsvg"], input=to_dot(edges), capture_output=True, text=True, check=True).stdout
    description = html.escape("\n".join(edge_lines(edges)))
    start = svg.index(">", svg.index("<svg")) + 1
    path.write_text(svg[:start] + f"\n<desc>\n{description}\n</desc>" + svg[start:], encoding="utf-8")


def drawn_edges(path):
    text = path.read_text(encoding="utf-8")
    return html.unescape(text[text.index("<desc>") + 6 : text.index("</desc>")]).split("\n")[1:-1]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check", "draw", "compare"])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    options = parser.parse_args(arguments)
    if options.command != "check" and options.file is None:
        parser.error(f"{options.command} needs the name of the SVG file")
    includes = list(read_includes(options.root))
    edges = count_edges(includes)
    if options.command == "draw":
        draw(edges, options.file)
        return 0
    if options.command == "check":
        problems = list(find_problems(includes))
    else:
        shown, real = set(drawn_edges(options.file)), set(edge_lines(edges))
        problems = [f"{line}: in the drawing, not in the code" for line in sorted(shown - real)]
        problems += [f"{line}: in the code, not in the drawing" for line in sorted(real - shown)]
        problems += ["draw it anew: tools/layers/layers.py draw docs/layers.svg"] if problems else []
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
