#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What mpi_test.py makes of programs that pass, fail, skip and hang: mpi_test_test.py MPI_TEST.PY

A script stands in for mpirun: it runs the program once and starts no ranks.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

RUNNER = os.path.realpath(sys.argv.pop(1))
MPIRUN = """#!/bin/bash
# mpirun --timeout SECONDS -n RANKS [--mca NAME VALUE]... PROGRAM [ARGUMENT]...
export LIMIT=$2
ranks=$4
shift 4
while [ "$1" = --mca ]; do shift 3; done
RANKS=$ranks exec "$@"
"""


def write_script(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, 0o755)


def running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        for runtime in ("plugins", "static"):
            for part in ("lib", "bin"):
                os.makedirs(f"{self.folder}/{runtime}/{part}")
            write_script(f"{self.folder}/{runtime}/lib/libmpi_abi.so.1", "")
            write_script(f"{self.folder}/{runtime}/bin/mpirun", MPIRUN)

    def start(self, program, which="quick", build="plain", **more):
        write_script(f"{self.folder}/program", "#!/bin/bash\n" + program)
        test = {"label": "//x:y", "args": [], "env": {}, "exit_status": 0, "mca": {}, "mpirun_args": [], "np": [1, 2, 3],
                "static": [], "timeout": 30, "variants": {"": {}}, "program": f"{self.folder}/program",
                "runtime": f"{self.folder}/plugins", "runtime_static": f"{self.folder}/static", **more}
        with open(f"{self.folder}/cases.json", "w", encoding="ascii") as file:
            json.dump(test, file)
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("PATCHBAY_", "TESTBRIDGE"))}
        environment.update(PATCHBAY_TEST_SET=which, PATCHBAY_TEST_BUILD=build, TEST_TMPDIR=self.folder,
                           XML_OUTPUT_FILE=f"{self.folder}/report.xml", TEST_TARGET="//x:y")
        return subprocess.Popen([RUNNER, f"{self.folder}/cases.json"], env=environment, stdout=subprocess.PIPE, text=True)

    def finish(self, process):
        """Exit status, log, and the verdicts by case."""
        log, _ = process.communicate(timeout=60)
        verdicts = {}
        for case in ElementTree.parse(f"{self.folder}/report.xml").iter("testcase"):
            verdicts[case.get("name")] = case[0].tag if len(case) else "passed"
        return process.returncode, log, verdicts

    def run_program(self, program, which="quick", **more):
        return self.finish(self.start(program, which, **more))

    def test_each_case_has_its_verdict(self):
        status, log, verdicts = self.run_program(
            'case $RANKS in 1) exit 0;; 2) echo "SKIPPED: y: no space";; 3) echo the reason; exit 9;; esac')
        self.assertEqual((status, verdicts), (1, {"np1": "passed", "np2": "skipped", "np3": "failure"}))
        self.assertIn("SKIPPED: y: no space", log)
        self.assertIn("[failed] //x:y np3", log)
        self.assertIn("exit status 9, wanted 0", log)
        self.assertIn("the reason", log)

    def test_a_failure_tells_how_to_repeat_it(self):
        _, log, _ = self.run_program('[ "$1" = "two words" ] && [ $RANKS != 2 ]', args=["two words"], mca={"a": "b c"},
                                     env={"HERE": "x y"})
        line = next(line for line in log.splitlines() if "exit status 1" in line)
        command = line.partition(": ")[2]
        self.assertIn("--mca a 'b c'", command)
        self.assertIn("HERE='x y'", command)
        self.assertEqual(subprocess.run(command, shell=True, check=False).returncode, 1)
        self.assertEqual(subprocess.run(command.replace("-n 2", "-n 3"), shell=True, check=False).returncode, 0)

    def test_a_wanted_exit_status(self):
        self.assertEqual(self.run_program("exit 6", exit_status=6)[0], 0)
        self.assertEqual(self.run_program("exit 0", exit_status=6)[0], 1)

    def test_a_singleton_has_its_parameters_in_the_environment(self):
        status, _, verdicts = self.run_program('[ -z "$RANKS" ] && [ "$PATCHBAY_MCA_cid" = mask ]', np=[0],
                                               mca={"pml": "ob1"}, variants={"m": {"cid": "mask"}})
        self.assertEqual((status, verdicts), (0, {"m_np0": "passed"}))

    def test_the_static_library(self):
        status, _, verdicts = self.run_program(f'[ "$LD_LIBRARY_PATH" = {self.folder}/static/lib ]', "full", np=[2])
        self.assertEqual((status, verdicts), (1, {"np2": "failure", "static_np2": "passed"}))

    def test_a_sanitizer_has_more_time(self):
        self.assertEqual(self.run_program('[ $LIMIT = 30 ]')[0], 0)
        for build in "asan", "tsan":
            self.assertEqual(self.run_program('[ $LIMIT = 180 ]', build=build)[0], 0)

    def test_a_program_that_hangs(self):
        # The stand-in for mpirun has no time limit, so that the runner ends the case, here after two seconds, in which
        # the script has begun on a busy machine, too.
        status, log, verdicts = self.run_program('sleep 1000 & echo $! >>"$0.pids"; wait', timeout=-8, np=[1, 2, 3, 4])
        self.assertEqual((status, set(verdicts.values())), (1, {"failure"}))
        self.assertEqual(len(verdicts), 4)
        self.assertIn("still running", log)
        self.assertIn("np4 (0.00 s)\nnot run: 3 cases before it hung", log)
        with open(f"{self.folder}/program.pids", encoding="ascii") as file:
            pids = file.read().split()
        self.assertEqual(len(pids), 3)
        # A process that has been killed is there until it has got a core.
        self.assertTrue(until(lambda: not any(running(pid) for pid in pids)), "left behind")

    def test_the_end_from_outside_is_reported(self):
        process = self.start('[ $RANKS = 1 ] || { touch "$0.begun"; sleep 1000; }')
        self.assertTrue(until(lambda: os.path.exists(f"{self.folder}/program.begun")))
        process.send_signal(signal.SIGTERM)
        status, log, verdicts = self.finish(process)
        self.assertEqual((status, verdicts), (1, {"np1": "passed", "np2": "failure", "np3": "failure"}))
        self.assertIn("ended from outside", log)


if __name__ == "__main__":
    unittest.main(verbosity=2)
