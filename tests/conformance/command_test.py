# SPDX-License-Identifier: BSD-3-Clause
"""The whole command with a made-up suite, a made-up installation and a made-up apt-get."""
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

TOOL = os.path.realpath(sys.argv.pop(1))

CONFIGURE = r"""#!/bin/sh
source=$(cd "$(dirname "$0")" && pwd)
echo configured >>"$HOME/configured.count"
printf '%s\n' a b $CONFIGURED_FOLDERS impls >testlist
for folder in a b b/sub dtpools util; do
    mkdir -p $folder
    printf 'all:\n%%: %s/%%.sh\n\t@! grep "error:" $<\n\techo $@ >>%s/built\n\tcp $< $@\n\tchmod +x $@\n' \
        "$source/$folder" "$HOME" >$folder/Makefile
done
"""
PROGRAMS = {
    "a/good": "echo ' No Errors'",
    "a/wrong": "[ \"$PARAMETERS$MTEST_THREADLEVEL_DEFAULT\" = \"$RIGHT\" ] && echo ' No Errors' && exit; "
    "echo 'got 3'; echo ' Found 1 errors'; exit 1",
    "a/missing": "echo 'MPI_Put: this build does not implement the function'; exit 13",
    "a/nocompile": "# x.c:1: error: MPI_LB undeclared",
    "a/slow": "echo $$ >>\"$HOME/slow.started\"; [ -e \"$HOME/hurry\" ] || sleep 100; echo ' No Errors'",
    "a/unwanted": "exit 1",
    "b/ranks": "[ $RANKS = 5 ] && [ \"$1 $X $PARAMETERS\" = '-v 7 p=q' ] && echo ' No Errors'",
    "b/sub/fails": "exit 5",
}
LISTS = {
    "a/testlist": "good 1\nwrong\nmissing 3\nnocompile\nslow 2\nunwanted\n",
    "b/testlist": "ranks 5 arg=-v env=X=7\nsub\n",
    "b/sub/testlist": "fails 1 resultTest=TestStatus\n",
}
MPIRUN = r"""#!/bin/bash
while :; do
    case $1 in
    -n) export RANKS=$2; shift 2;;
    --mca) export PARAMETERS=$2=$3; shift 3;;
    *) break;;
    esac
done
exec timeout --foreground "$MPIEXEC_TIMEOUT" "$@"
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
        suite = self.root / "mpich-9/test/mpi"
        write(suite / "configure", CONFIGURE)
        for name, text in PROGRAMS.items():
            write(suite / f"{name}.sh", f"#!/bin/bash\n{text}\n")
        for name, text in LISTS.items():
            write(suite / name, text)
        write(suite / "dtpools/src/dtpools_custom.c", "MPI_Type_hvector(1); MPI_Type_hindexed(2);\n")
        write(self.root / "mpich-9/src/unwanted.c", "")
        self.archives = self.root / "archives"
        self.archives.mkdir()
        with tarfile.open(self.archives / "mpich_9.orig.tar.xz", "w:xz") as tar:
            tar.add(self.root / "mpich-9", "mpich-9")
        self.prefix = self.root / "prefix"
        for name, text in {
            "bin/mpicc": "#!/bin/sh\necho 'made-up compiler 1'\n",
            "bin/mpirun": MPIRUN,
            "bin/patchbay-info": "#!/bin/sh\necho MPI_Put\n",
            "include/mpi.h": "/* */\n",
            "lib/libmpi_abi.so.1": "library 1\n",
        }.items():
            write(self.prefix / name, text)
        # The tool beside exclusions and a subset for this suite.
        self.tool = self.root / "tool"
        self.tool.mkdir()
        for path in Path(TOOL).parent.glob("*.py"):
            (self.tool / path.name).write_bytes(path.read_bytes())
        (self.tool / "exclusions.txt").write_text("a/unw*  not ours\n")
        (self.tool / "subset.txt").write_text("b/ranks -n 5 -v X=7\na/good -n 1 # quick\n")
        self.work = self.root / "work"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "PATCHBAY_SOURCES": str(self.archives),
            "CONFIGURED_FOLDERS": "threads errors part rma",
            "RIGHT": "never",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def command(self, *arguments):
        base = [sys.executable, str(self.tool / "conformance.py"), f"--prefix={self.prefix}", f"--work={self.work}"]
        return [*base, *arguments]

    def run_command(self, *arguments, **environment):
        environment = {**self.environment, **environment}
        result = subprocess.run(
            self.command(*arguments), env=environment, capture_output=True, text=True, timeout=100, check=False
        )
        self.errors = result.stderr
        self.assertNotIn("Traceback", self.errors)
        return result.returncode, result.stdout.splitlines()

    def build_folder(self):
        (folder,) = self.work.glob("build-*")
        return folder

    def count_of(self, name):
        path = self.build_folder() / name
        return len(path.read_text().split()) if path.exists() else 0

    def test_everything(self):
        status, lines = self.run_command("--timeout=1", "--mca", "p", "q")
        self.assertEqual(status, 1)
        self.assertEqual(
            lines[:5],
            [
                "SKIPPED: a/unwanted -n 2: not ours",
                "NOT COMPILING: a/nocompile -n 2: # x.c:1: error: MPI_LB undeclared",
                "FAILED: a/missing -n 3: not implemented: MPI_Put",
                "FAILED: a/wrong -n 2: exit status 1: got 3",
                "FAILED: a/slow -n 2: time limit: 1 s",
            ],
        )
        self.assertRegex(lines[7], r"^a +1 +3 +1 +1 +1 +\d+$")
        self.assertRegex(lines[8], r"^b +2 +0 +0 +0 +0 +\d+$")
        self.assertEqual(lines[-1], "3 passed, 4 failed, 1 skipped")
        self.assertEqual((self.work / "results/report.txt").read_text().splitlines(), lines)

    def test_configurations(self):
        words = ["a/wrong", "a/good", "--configuration=cid-mask", "--configuration=multiple"]
        for right, failures in (("cid=mask", [0, 1]), ("multiple", [1, 0])):
            status, lines = self.run_command(*words, RIGHT=right)
            self.assertEqual(status, 1)
            self.assertEqual(lines[0], "configuration cid-mask: communicator identifiers of cid/mask")
            for name, failed in zip(("cid-mask", "multiple"), failures):
                (row,) = [line for line in lines if re.match(rf"{name} +\d", line)]
                self.assertEqual(row.split()[1:3], [str(2 - failed), str(failed)])
                report = (self.work / f"results/report-{name}.txt").read_text().splitlines()
                self.assertEqual(report[-1], f"{2 - failed} passed, {failed} failed, 0 skipped")
            self.assertEqual(lines[-1], "3 passed, 1 failed, 0 skipped")

    def test_a_configuration_is_resumed_by_itself(self):
        self.run_command("a/good", "--configuration=cid-mask")
        _, lines = self.run_command("a/good", "--configuration=multiple", "--resume")
        self.assertEqual(lines[-1], "1 passed, 0 failed, 0 skipped")
        self.assertIn("there are no results of this library to go on with", self.errors)
        self.run_command("a/good", "--configuration=cid-mask", "--resume")
        self.assertNotIn("there are no results", self.errors)

    def test_configurations_that_are_refused(self):
        status, _ = self.run_command("--configuration=cid-musk")
        self.assertEqual(status, 2)
        self.assertIn("there is no configuration cid-musk; there are all, default, multiple", self.errors)
        status, _ = self.run_command("--configuration=asan", "a/good")
        self.assertEqual(status, 1)
        self.assertIn("was not built with the address sanitizer", self.errors)

    def test_one_test_of_three(self):
        write(self.prefix / "lib/libmpi_abi.so.1", "__asan_init\n")
        status, lines = self.run_command("--configuration=asan", "--timeout=1")
        self.assertRegex(lines[-1], r"passed")
        lines = (self.work / "results/results-asan.jsonl").read_text().splitlines()
        names = [json.loads(line)["name"] for line in lines[1:]]
        self.assertEqual(names, ["a/good -n 1", "a/nocompile -n 2", "b/ranks -n 5 -v X=7"])
        self.assertEqual(status, 1)
        status, _ = self.run_command("a/good")
        self.assertEqual(status, 1)
        self.assertIn("was built with the address sanitizer", self.errors)

    def test_what_the_sanitizer_reports_fails_a_test(self):
        write(self.prefix / "lib/libmpi_abi.so.1", "__asan_init\n")
        leak = (
            "Direct leak of 7 byte(s) in 1 object(s) allocated from:\n"
            f"#0|{self.prefix}/lib/libmpi_abi.so.1|patchbay::keep()|keep.cpp:8\n"
        )
        write(self.root / "report", leak)
        # The file that the options of the sanitizer name, as the sanitizer itself would write it.
        write(
            self.root / "mpich-9/test/mpi/a/good.sh",
            "#!/bin/bash\nfile=${ASAN_OPTIONS#*log_path=\\'}\n"
            f"[ \"$LEAKS\" = yes ] && cp {self.root}/report \"${{file%%\\'*}}.12\"\necho ' No Errors'\n",
        )
        with tarfile.open(self.archives / "mpich_9.orig.tar.xz", "w:xz") as tar:
            tar.add(self.root / "mpich-9", "mpich-9")
        words = ["--configuration=asan", "--part=1", "a/wrong", "a/good"]
        status, lines = self.run_command(*words, LEAKS="yes")
        self.assertEqual(status, 1)
        self.assertEqual(lines[0], "FAILED: a/good -n 1: sanitizer: leak of 7 bytes from patchbay::keep() (keep.cpp:8)")
        (log,) = (self.work / "results/logs-asan").iterdir()
        self.assertIn(leak, log.read_text())
        status, lines = self.run_command(*words)
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 0 skipped"))

    def test_folders_programs_and_kept_builds(self):
        status, lines = self.run_command("b/sub", "a/good")
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 0 skipped"))
        self.assertEqual([line.split()[0] for line in lines[1:-2]], ["folder", "b", "a", "all"])
        self.assertEqual((self.count_of("configured.count"), self.count_of("built")), (1, 2))
        self.assertEqual(self.run_command("a/good")[1][-1], "1 passed, 0 failed, 0 skipped")
        self.assertEqual((self.count_of("configured.count"), self.count_of("built")), (1, 2))
        # Another library of the same ABI needs no new build, another header does.
        write(self.prefix / "lib/libmpi_abi.so.1", "library 2\n")
        self.run_command("a/good")
        self.assertEqual((self.count_of("configured.count"), self.count_of("built")), (1, 2))
        before = self.build_folder()
        write(self.prefix / "include/mpi.h", "/* new */\n")
        self.run_command("a/good")
        self.assertNotEqual(self.build_folder(), before)
        self.assertEqual((self.count_of("configured.count"), self.count_of("built")), (1, 1))
        status, _ = self.run_command("nowhere")
        self.assertEqual(status, 1)
        self.assertIn("no folder or program nowhere", self.errors)

    def test_removed_names_are_replaced_in_a_copy_of_the_suite_alone(self):
        self.run_command("a/good")
        source = self.work / "mpich-9"
        text = (source / "dtpools/src/dtpools_custom.c").read_text()
        self.assertEqual(text, "MPI_Type_create_hvector(1); MPI_Type_create_hindexed(2);\n")
        self.assertFalse((source / "src").exists())

    def test_excluded_tests_on_demand(self):
        self.assertEqual(self.run_command("a/unwanted")[1][-1], "0 passed, 0 failed, 1 skipped")
        self.assertEqual(self.run_command("a/unwanted", "--excluded")[1][-1], "0 passed, 1 failed, 0 skipped")

    def test_subset(self):
        status, lines = self.run_command("--subset", "--mca", "p", "q")
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 0 skipped"))
        # Only b/ranks needs the parameter. There are five parts, which come round.
        for part, end in ("5", "0 passed, 1 failed, 0 skipped"), ("6", "1 passed, 0 failed, 0 skipped"):
            self.assertEqual(self.run_command("--subset", "--part", part)[1][-1], end)
        (self.tool / "subset.txt").write_text("a/gone -n 1\n")
        self.assertEqual(self.run_command("--subset")[0], 1)
        self.assertIn("no test a/gone", self.errors)

    def test_configure_that_leaves_folders_out_is_an_error(self):
        status, _ = self.run_command("a/good", CONFIGURED_FOLDERS="errors part rma")
        self.assertEqual(status, 1)
        self.assertIn("left out threads", self.errors)
        self.assertEqual(self.run_command("a/good")[0], 0)

    def interrupt(self, number):
        """Interrupts a run while a/slow is running; returns the process of a/slow."""
        started = self.root / "work"
        process = subprocess.Popen(self.command("a", "b"), env=self.environment, stdout=-1, stderr=-1, text=True)
        deadline = time.monotonic() + 60
        found = []
        while not found and time.monotonic() < deadline:
            found = [path for path in started.glob("build-*/slow.started") if path.read_text().endswith("\n")]
            time.sleep(0.02)
        self.assertTrue(found, "the test never started")
        process.send_signal(number)
        self.errors = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 130)
        slow = int(found[0].read_text().split()[0])
        found[0].unlink()
        return slow

    def test_interrupted_run_leaves_no_process_and_goes_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            slow = self.interrupt(number)
            self.assertFalse(os.path.exists(f"/proc/{slow}"), "a process was left behind")
        self.assertIn("--resume", self.errors)
        built = self.count_of("built")
        results = self.work / "results/results.jsonl"
        self.assertIn("a/wrong -n 2", results.read_text())
        self.assertNotIn("a/slow", results.read_text())
        (self.build_folder() / "hurry").touch()
        (self.build_folder() / "a/wrong").write_text("#!/bin/sh\necho ' No Errors'\n")
        status, lines = self.run_command("a", "b", "--resume")
        # What had a result has it still; the rest was run.
        self.assertIn("FAILED: a/wrong -n 2: exit status 1: got 3", lines)
        self.assertIn("FAILED: b/ranks -n 5 -v X=7: exit status 1: no output", lines)
        self.assertEqual((status, lines[-1]), (1, "3 passed, 4 failed, 1 skipped"))
        self.assertEqual(self.count_of("built"), built + 2)
        write(self.prefix / "lib/libmpi_abi.so.1", "library 2\n")
        self.assertNotIn("a/wrong", " ".join(self.run_command("a/good", "a/wrong", "--resume")[1]))
        self.assertIn("starting anew", self.errors)

    def test_second_run_at_the_same_time_is_refused(self):
        process = subprocess.Popen(self.command("a/slow"), env=self.environment, stdout=-1, stderr=-1)
        try:
            deadline = time.monotonic() + 60
            while not list(self.work.glob("build-*/slow.started")) and time.monotonic() < deadline:
                time.sleep(0.02)
            self.assertEqual(self.run_command("a/good")[0], 1)
            self.assertIn("another run uses", self.errors)
        finally:
            process.terminate()
            process.communicate(timeout=30)

    def without_network(self, apt_get, **environment):
        tools = self.root / "apt"
        write(tools / "apt-get", apt_get)
        return self.run_command("a/good", PATCHBAY_SOURCES="", PATH=f"{tools}:{os.environ['PATH']}", **environment)

    def test_package_that_cannot_be_fetched(self):
        fails = "#!/bin/sh\necho 'E: no such host' >&2\nexit 100\n"
        line = "conformance: apt-get source mpich: E: no such host"
        self.assertEqual(self.without_network(fails), (0, [f"SKIPPED: {line}", "0 passed, 0 failed, 1 skipped"]))
        in_ci = self.without_network(fails, CI="true")
        self.assertEqual(in_ci, (1, [f"FAILED: {line}", "0 passed, 1 failed, 0 skipped"]))

    def test_package_is_fetched_with_a_configuration_of_its_own(self):
        fetches = f"""#!/bin/bash
list= parts=
for argument; do
    case $argument in
    -oDir::Etc::sourcelist=*) list=${{argument#*=}} ;;
    -oDir::Etc::sourceparts=*) parts=${{argument#*=}} ;;
    -oDir::State::lists=/etc/*|-oDir::State::lists=/var/*) exit 1 ;;
    update) exit 100 ;;
    esac
done
[ -e "$list" ] && [ -d "$parts" ] && grep -qrh deb-src "$list" "$parts" || exit 1
cp {self.archives}/* .
"""
        status, lines = self.without_network(fetches)
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
