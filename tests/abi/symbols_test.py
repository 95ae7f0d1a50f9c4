#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What libmpi_abi.so.1 shows to the linker, and what a program that was linked with it needs.

usage: symbols_test.py LIBRARY PROGRAM expected_functions.tsv mpix.h
"""

import re
import subprocess
import sys
import unittest

library, program, functions_table, extensions_header = sys.argv[1:5]


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def exported_symbols():
    """Name -> symbol type of nm: T strong, W weak, others data."""
    lines = (line.split() for line in run("nm", "-D", "--defined-only", library).splitlines())
    return {fields[-1].split("@")[0]: fields[-2] for fields in lines}


def dynamic_entries(path, tag):
    return re.findall(rf"\({tag}\).*\[(.*)\]", run("readelf", "-d", path))


class Symbols(unittest.TestCase):
    def expect_function(self, symbols, name):
        self.assertEqual(symbols.get(name), "W", f"{name} must be there and weak")
        self.assertEqual(symbols.get("P" + name), "T", f"P{name} must be there and strong")

    def test_functions_of_the_standard(self):
        symbols = exported_symbols()
        with open(functions_table, encoding="utf-8") as table:
            names = [line.split("\t")[0] for line in table if not line.startswith("#")]
        self.assertEqual(len(names), 664)
        for name in names:
            self.expect_function(symbols, name)
        extra = {s for s in symbols if re.match(r"P?MPI_", s)} - set(names) - {"P" + name for name in names}
        self.assertFalse(extra, "the library exports a name that the standard does not have")

    def test_extensions(self):
        symbols = exported_symbols()
        with open(extensions_header, encoding="utf-8") as header:
            names = re.findall(r"^int (MPIX_\w+)\(", header.read(), re.MULTILINE)
        self.assertGreater(len(names), 30)
        for name in names:
            self.expect_function(symbols, name)

    def test_soname(self):
        self.assertEqual(dynamic_entries(library, "SONAME"), ["libmpi_abi.so.1"])

    def test_program_needs_only_the_abi(self):
        needed = dynamic_entries(program, "NEEDED")
        self.assertIn("libmpi_abi.so.1", needed)
        system = re.compile(r"lib(c|m|stdc\+\+|gcc_s|pthread|dl)\.so\.\d+|ld-linux.*")
        self.assertFalse([n for n in needed if n != "libmpi_abi.so.1" and not system.fullmatch(n)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
