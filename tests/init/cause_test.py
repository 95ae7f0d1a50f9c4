#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An MPI_Init that fails prints the cause, and what can be done.

Arguments: PREFIX, the program world_model.
"""

import os
import subprocess
import sys
import tempfile
import unittest

PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(sys.argv.pop(1), "lib/libmpi_abi.so.1"))))
PROGRAM = os.path.realpath(sys.argv.pop(1))


class CauseTest(unittest.TestCase):
    def printed(self, *parameter, ranks=1, program=(PROGRAM,)):
        """What processes print when they cannot be initialized."""
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(PREFIX, "lib"), HOME=os.environ.get("TEST_TMPDIR", "/tmp"))
        command = [os.path.join(PREFIX, "bin/mpirun"), "--timeout", "60", "-n", str(ranks), "--mca", *parameter]
        done = subprocess.run([*command, *program], env=env, capture_output=True, text=True, timeout=90, check=False)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_collectives_that_no_component_has(self):
        text = self.printed("coll", "inter")
        self.assertIn("MPI_COMM_WORLD could not be made: ", text)
        self.assertIn("no component of framework coll can be used for MPI_COMM_WORLD", text)
        self.assertIn("coll=inter", text)

    def test_a_wrong_parameter_is_reported_once(self):
        for ranks in (1, 2, 5):
            with self.subTest(ranks=ranks):
                text = self.printed("wait_spin", "a while", ranks=ranks)
                self.assertEqual(text.count("patchbay: error: "), 1, text)
                self.assertRegex(text, r"MPI_Init(_thread)?: .*wait_spin.*a while.*, so the job ends")

    def test_a_value_out_of_range_is_an_error(self):
        text = self.printed("btl_sm_slots", "4")
        self.assertIn("parameter btl_sm_slots (int): '4' is not in the range 8..32768", text)

    def test_a_value_that_a_component_refuses_is_an_error(self):
        text = self.printed("btl_sm_slots", "63")
        self.assertIn("component sm of framework btl cannot be used: btl_sm_slots=63: must be a power of two", text)

    def test_ranks_with_another_text_report_theirs(self):
        # The first rank that ends has the others ended, too: they wait for each other before they are initialized.
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
            script = (
                f'export PATCHBAY_MCA_wait_spin=wrong$((PMIX_RANK % 2)); touch {folder}/$PMIX_RANK; '
                f'while [ "$(ls {folder} | wc -l)" -lt 4 ]; do :; done; "$0"; code=$?; touch {folder}/end$PMIX_RANK; '
                f'while [ "$(ls {folder} | wc -l)" -lt 8 ]; do :; done; exit $code'
            )
            text = self.printed("verbose", "0", ranks=4, program=("sh", "-c", script, PROGRAM))
        for value in ("wrong0", "wrong1"):
            self.assertEqual(sum("error: " in line and value in line for line in text.splitlines()), 1, text)

    def test_no_table_no_silence(self):
        # A wrapper has closed the descriptors that mpirun hands down.
        script = "import os, sys; os.closerange(3, 100); os.execv(sys.argv[1], sys.argv[1:])"
        text = self.printed("wait_spin", "a while", program=(sys.executable, "-c", script, PROGRAM))
        self.assertEqual(text.count("patchbay: error: "), 1, text)


if __name__ == "__main__":
    unittest.main()
