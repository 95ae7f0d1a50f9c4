#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The libraries have the functions of tools/link/function_order.txt, and have them together: function_order_test.py
LIST LIBRARY..."""
import subprocess
import sys

STALE = 0.2  # of the names may be those of no function
PAGE = 4096


def functions(library):
    """(address, size) by name."""
    lines = subprocess.run(["nm", "--print-size", library], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    fields = [line.split() for line in lines]
    return {name: (int(address, 16), int(size, 16)) for address, size, kind, name in (f for f in fields if len(f) == 4)
            if kind in "tTwW"}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        listed = set(file.read().split())
    known = {library: functions(library) for library in sys.argv[2:]}
    stale = listed - set().union(*known.values())
    failed = len(stale) > STALE * len(listed)
    print(f"{len(stale)} of {len(listed)} names are those of no function")
    if failed:
        print("FAILED: the list is stale; write it anew with tools/link/function_order.py", *sorted(stale), sep="\n    ")
    mpi = next(library for library in known if "libmpi_abi" in library)
    there = [known[mpi][name] for name in listed & known[mpi].keys()]
    pages = {(address + offset) // PAGE for address, size in there for offset in (0, max(size - 1, 0))}
    least = sum(size for _, size in there) / PAGE
    print(f"{len(there)} functions of libmpi_abi lie on {len(pages)} pages; side by side they would fill {least:.0f}")
    if len(there) < 100 or len(pages) > 1.5 * least + 2:
        print("FAILED: the linker has not followed the list (tools/link/README.md)")
        failed = True
    return failed


sys.exit(main())
