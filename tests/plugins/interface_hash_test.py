#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What changes the hash of the headers for components, and what does not: interface_hash_test.py INTERFACE_HASH.PY"""
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.dirname(TOOL))
from interface_hash import interface_hash, normalized  # noqa: E402

HEADER = """// A comment
#pragma once
#include <cstdint>

struct Thing { /* with
    two lines */
    int first = 1'000'000; // a million
    const char* text = "no // comment \\" here";
    char quote = '"'; // not the beginning of a string
};
#define TWO_LINES(x) \\
    first(x)
"""


def changed(old, new):
    assert old in HEADER, old
    return interface_hash([("a.h", HEADER.replace(old, new))]) != interface_hash([("a.h", HEADER)])


class Hash(unittest.TestCase):
    def test_comments_and_layout_do_not_count(self):
        for old, new in (("// A comment", "// Another one"), (" // a million", ""), ("with\n", "with more\n"),
                         ("    int first", "int   first"), ("// not the beginning of a string", "// \"quoted"),
                         ("};\n", "\n\n};\n"), ("x) \\\n    first", "x) first"), ("// a million", "/* it's one */"),
                         ("1'000'000", "1000'000")):
            self.assertFalse(changed(old, new), (old, new))

    def test_code_counts(self):
        for old, new in (("int first", "long first"), ("1'000", "2'000"), ("};", "    int one_more;\n};"), ("no //", "no /"),
                         ("#pragma once\n", ""), ("<cstdint>", "<cstddef>"), ("comment \\\"", "\\\""), ("'\"'", "'x'"),
                         ("first(x)", "second(x)")):
            self.assertTrue(changed(old, new), (old, new))

    def test_names_count_and_order_does_not(self):
        a, b = ("a.h", "int a;"), ("b.h", "int b;")
        self.assertEqual(interface_hash([a, b]), interface_hash([b, a]))
        self.assertNotEqual(interface_hash([a, b]), interface_hash([("b.h", "int a;"), ("a.h", "int b;")]))
        self.assertNotEqual(interface_hash([a]), interface_hash([a, b]))
        self.assertRegex(interface_hash([a]), "^[0-9a-f]{16}$")

    def test_text_is_kept(self):
        self.assertIn('"no // comment \\" here"', normalized(HEADER))
        self.assertNotIn("million", normalized(HEADER))
        self.assertNotIn("two lines", normalized(HEADER))

    def test_program_leaves_its_own_header_out(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "core/component"))
            for name in ("a.h", "core/component/interface_hash.h"):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(HEADER)

            def run(*names):
                return subprocess.run([sys.executable, TOOL, "1.2.3", *names], cwd=folder, capture_output=True, text=True,
                                      check=False)

            both = run("./a.h", "./core/component/interface_hash.h")
            self.assertEqual(both.stdout, run("a.h").stdout)
            self.assertIn(f'interface_hash[] = "{interface_hash([("a.h", HEADER)])}"', both.stdout)
            self.assertIn('interface_release[] = "1.2.3"', both.stdout)
            self.assertNotEqual(run("core/component/interface_hash.h").returncode, 0)


unittest.main()
