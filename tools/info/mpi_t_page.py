#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/mpi_t.md, which patchbay-info prints.

usage: mpi_t_page.py PATCHBAY_INFO PAGE           replace the tables in the page
       mpi_t_page.py PATCHBAY_INFO PAGE --check   fail when the page has other ones
"""
import json
import pathlib
import re
import subprocess
import sys


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(head, rows):
    return "\n".join([row(head), row(["---"] * len(head))] + [row(cells) for cells in rows])


def shown(name):
    return f"`{name}`"


def tables(info):
    """The text of each table, by its name in the page."""
    known = json.loads(subprocess.run([info, "--json", "--pvars", "--events", "--categories"], check=True,
                                      capture_output=True, text=True, timeout=60).stdout)
    variables = [[shown(one["name"]), one["class"], one["binding"], "always" if one["continuous"] else "when started",
                  one["help"] + (": " + ", ".join(map(shown, one["choices"])) if one["choices"] else "")]
                 for one in known["performance_variables"]]
    events = [[shown(one["name"]), ", ".join(one["elements"]), one["binding"], one["help"]]
              for one in known["events"]]
    categories = [[shown(one["name"]), one["help"], ", ".join(map(shown, one["categories"]))]
                  for one in known["categories"]]
    return {
        "performance variables": table(["variable", "class", "bound to", "counts", "what it is"], variables),
        "events": table(["event", "elements", "bound to", "what it is"], events),
        "categories": table(["category", "what it is", "categories in it"], categories),
    }


def with_tables(text, info):
    for name, content in tables(info).items():
        marked = re.compile(rf"(<!-- begin: {name}[^\n]*-->\n).*?(<!-- end: {name} -->)", re.DOTALL)
        if len(marked.findall(text)) != 1:
            sys.exit(f"mpi_t_page.py: the page has no place for the {name}")
        text = marked.sub(lambda found, content=content: found[1] + content + "\n" + found[2], text)
    return text


def main():
    info, page = sys.argv[1], pathlib.Path(sys.argv[2])
    text = page.read_text(encoding="utf-8")
    made = with_tables(text, info)
    if "--check" not in sys.argv:
        page.write_text(made, encoding="utf-8")
    elif made != text:
        sys.exit(f"{page} differs from what patchbay-info prints; run ./dev variables")


if __name__ == "__main__":
    main()
