# SPDX-License-Identifier: BSD-3-Clause
"""The texts by which the verdict `not implemented` is recognised are those that the library prints."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(sys.argv.pop(1))))
import verdict  # noqa: E402

PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(sys.argv.pop(1) + "/lib/libmpi_abi.so.1")))


class Words(unittest.TestCase):
    def test_an_unimplemented_function_is_recognised_by_its_error(self):
        environment = {**os.environ, "LD_LIBRARY_PATH": f"{PREFIX}/lib"}
        command = [f"{PREFIX}/bin/patchbay-info", "--unimplemented"]
        names = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout.split()
        # Errors of files are returned, and those of the tool information interface have no text at all.
        names = [name for name in names if not name.startswith(("MPI_File_", "MPI_T_"))]
        if not names:
            self.skipTest("every function is implemented")
        script = (
            f"import ctypes\nlibrary = ctypes.CDLL('{PREFIX}/lib/libmpi_abi.so.1')\n"
            f"library.{names[0]}(*([ctypes.c_void_p(0)] * 16))\n"
        )
        result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(verdict.NOT_IMPLEMENTED.findall(result.stdout + result.stderr), names[:1])


if __name__ == "__main__":
    unittest.main()
