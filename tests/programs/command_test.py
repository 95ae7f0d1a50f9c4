# SPDX-License-Identifier: BSD-3-Clause
"""The whole command with a made-up p4est and a made-up installation."""
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

TOOL = os.path.realpath(sys.argv.pop(1))
sys.argv.pop(1)

CONFIGURE = """#!/bin/sh
echo configured >>"$HOME/configured.count"
printf '%s\\n' "$@" >"$HOME/options"
printf 'all:\\n\\techo library\\ncheck:\\n\\tcp test/*.sh . && sh ./install.sh\\n' >Makefile
"""
INSTALL = """cp test/good.sh test/p4est_test_good
cp test/bad.sh test/p4est_test_bad
cp test/stays.sh test/p4est_test_stays
cp test/good.sh sc/test/sc_test_node_comm
"""
FILES = {
    "bootstrap": "#!/bin/sh\n[ -s .tarball-version ]\n",
    "configure": CONFIGURE,
    "test/install.sh": INSTALL,
    "test/good.sh": "#!/bin/sh\n[ $RANKS = 2 ] || [ $RANKS = 4 ]\n",
    "test/bad.sh": "#!/bin/sh\necho no good; exit $RANKS\n",
    "test/stays.sh": "#!/bin/sh\nsetsid sleep 100 >/dev/null 2>&1 &\n",
    "sc/test/empty": "",
}
MPIRUN = """#!/bin/sh
export RANKS=$2
shift 2
"$@"
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name, text in FILES.items():
            write(self.root / "p4est-7" / name, text)
        self.archives = self.root / "archives"
        self.archives.mkdir()
        with tarfile.open(self.archives / "p4est_7.orig.tar.xz", "w:xz") as tar:
            tar.add(self.root / "p4est-7", "p4est-7")
        self.prefix = self.root / "prefix"
        write(self.prefix / "bin/mpicc", "#!/bin/sh\necho 'made-up compiler 1'\n")
        write(self.prefix / "bin/mpirun", MPIRUN)
        write(self.prefix / "include/mpi.h", "/* */\n")
        (self.prefix / "lib").mkdir()

    def run_command(self, *arguments, **environment):
        command = [sys.executable, "-B", TOOL, "--work", str(self.root / "work"), *arguments]
        kept = {name: value for name, value in os.environ.items() if name != "CI"}
        kept.update(PATCHBAY_SOURCES=str(self.archives), **environment)
        return subprocess.run(command, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def built(self):
        """How often it was configured."""
        return sum(path.read_text().count("configured") for path in self.root.glob("work/p4est-*/configured.count"))

    def test_builds_runs_and_keeps(self):
        ended = self.run_command("--prefix", str(self.prefix), "p4est")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertRegex(ended.stdout, r"p4est +7 +8 +4 +4 +0 ")
        self.assertIn("4 passed, 4 failed, 0 skipped", ended.stdout.splitlines()[-1])
        self.assertIn("FAILED: p4est: p4est_test_bad -n 4: exit status 4: no good", ended.stdout)
        self.assertIn("p4est_test_stays -n 2: 1 processes were still there", ended.stdout)
        # A second run uses the build again; one test alone is judged alone.
        ended = self.run_command("--prefix", str(self.prefix), "p4est", "--tests", "*_good *")
        self.assertEqual((ended.returncode, self.built()), (0, 1), ended.stdout)
        self.assertEqual(ended.stdout.splitlines()[-1], "2 passed, 0 failed, 0 skipped")
        # The page has the kept results, of the whole run, and names the programs that were not run.
        ended = self.run_command("--page", str(self.root / "page.md"))
        page = (self.root / "page.md").read_text()
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertRegex(page, r"\| p4est \| 7 \| 8 \| 4 \| 4 \| 0 \|")
        self.assertIn("No result: it has not been run.", page)
        # Another header makes another build, and the former one goes.
        (self.prefix / "include/mpi.h").write_text("/* new */\n")
        ended = self.run_command("--prefix", str(self.prefix), "p4est", "--tests", "*_good *")
        self.assertEqual((ended.returncode, self.built()), (0, 1), ended.stdout)
        self.assertEqual(len(list(self.root.glob("work/p4est-*"))), 1)

    def test_a_build_that_fails(self):
        (self.prefix / "bin/mpirun").write_text("")
        write(self.root / "p4est-7/bootstrap", "#!/bin/sh\necho 'x.c:1: error: no type'\nexit 1\n")
        with tarfile.open(self.archives / "p4est_7.orig.tar.xz", "w:xz") as tar:
            tar.add(self.root / "p4est-7", "p4est-7")
        ended = self.run_command("--prefix", str(self.prefix), "p4est")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn("FAILED: p4est: bootstrap: x.c:1: error: no type", ended.stdout)
        self.assertIn("0 passed, 1 failed", ended.stdout)

    def test_no_such_source_package(self):
        """An apt-get that fails stands for a machine without network."""
        write(self.root / "bin/apt-get", "#!/bin/sh\necho 'E: nothing here' >&2\nexit 100\n")
        (self.archives / "p4est_7.orig.tar.xz").unlink()
        path = f"{self.root}/bin:{os.environ['PATH']}"
        ended = self.run_command("--prefix", str(self.prefix), "p4est", PATH=path)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertIn("0 passed, 0 failed, 1 skipped", ended.stdout)
        ended = self.run_command("--prefix", str(self.prefix), "p4est", PATH=path, CI="true")
        self.assertEqual(ended.returncode, 1, ended.stdout)

    def test_wrong_words(self):
        ended = self.run_command("--prefix", str(self.prefix), "p5est")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("there is no program p5est", ended.stdout)
        ended = self.run_command("--prefix", str(self.root), "p4est")
        self.assertIn("it has no bin/mpicc", ended.stdout)
        ended = self.run_command("--page", str(self.root / "page.md"))
        self.assertIn("there is no kept result", ended.stdout)


if __name__ == "__main__":
    unittest.main()
