#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the layers of the source tree, and tests the check on made-up trees with errors."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(os.environ["LAYERS"]).resolve()
sys.path.insert(0, str(TOOL.parent))
import layers  # noqa: E402

ROOT = TOOL.parents[2]


def problems(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return list(layers.find_problems(list(layers.read_includes(Path(folder)))))


class MadeUpTree(unittest.TestCase):
    def test_an_include_that_runs_down_is_allowed(self):
        self.assertEqual(problems({"mpi/api/a.cpp": '#include "core/b.h"\n#include <vector>\n'}), [])

    def test_an_include_that_runs_up_is_found(self):
        found = problems({"object/a.cpp": '#include "frameworks/pml/pml.h"\n'})
        self.assertEqual(found, ["object/a.cpp includes frameworks/pml/pml.h: object must not include frameworks"])

    def test_an_include_that_runs_sideways_is_found(self):
        self.assertEqual(len(problems({"components/cid/mask/a.cpp": '#include "mpi/instance/b.h"\n'})), 1)
        self.assertEqual(len(problems({"mpi/instance/a.cpp": '# include "components/common/b.h"\n'})), 1)

    def test_no_component_includes_another_one(self):
        self.assertEqual(len(problems({"components/cid/mask/a.cpp": '#include "components/cid/excid/b.h"\n'})), 1)
        self.assertEqual(problems({"components/cid/mask/a.cpp": '#include "components/common/b.h"\n'}), [])
        self.assertEqual(len(problems({"components/common/a.h": '#include "components/btl/sm/b.h"\n'})), 1)

    def test_the_launcher_uses_core_only(self):
        self.assertEqual(problems({"launch/a.cpp": '#include "core/b.h"\n'}), [])
        self.assertEqual(len(problems({"launch/a.cpp": '#include "object/b.h"\n'})), 1)

    def test_a_folder_that_is_in_no_layer_is_found(self):
        self.assertEqual(len(problems({"attic/a.cpp": '#include "core/b.h"\n'})), 1)


class SourceTree(unittest.TestCase):
    def setUp(self):
        self.includes = list(layers.read_includes(ROOT))

    def test_the_tree_was_read(self):
        self.assertGreater(len(self.includes), 500)

    def test_includes_run_one_way(self):
        self.assertEqual(list(layers.find_problems(self.includes)), [])

    def test_the_drawing_shows_the_code(self):
        shown = layers.drawn_edges(ROOT / "docs" / "layers.svg")
        self.assertEqual(shown, layers.edge_lines(layers.count_edges(self.includes)))


if __name__ == "__main__":
    unittest.main()
