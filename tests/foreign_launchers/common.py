# SPDX-License-Identifier: BSD-3-Clause
"""For the tests under launchers of other projects: RUNTIME PROGRAM... are the test's arguments.

A program is called with the number of ranks as its only argument; it must fail when its job has another size. Each program
with each way to start it is a case of its own in the report.
"""

import os
import shutil
import subprocess
import sys

# The tests run at the top of the tree.
sys.path.insert(0, os.path.abspath("tools/bazel"))
import case_report  # pylint: disable=wrong-import-position

RANKS = 4


def skip(why):
    """Ends the test as skipped."""
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    print(f"SKIPPED: {name}: {why}")
    sys.exit(0)


def need(*programs):
    """The paths of programs that the test cannot do without."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    found = [shutil.which(program, path=path) for program in programs]
    missing = [program for program, where in zip(programs, found) if where is None]
    if missing:
        skip(f"not installed: {', '.join(missing)}")
    return found


def arguments():
    """The runtime tree, and the programs by name."""
    runtime, *programs = map(os.path.abspath, sys.argv[1:])
    return runtime, {os.path.basename(program): program for program in programs}


def check_job(command, env, limit=60):
    """Runs a job that must end well."""
    status, _ = run(command, env, limit)
    expect(status == 0, f"exit status {status}: {' '.join(command)}")


def environment(runtime, home, **more):
    """What the launcher is started with: nothing of another job, and our library."""
    ours = ("PMIX", "PATCHBAY", "OMPI", "SLURM", "PRTE", "PMI_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    lib = os.path.dirname(os.path.realpath(os.path.join(runtime, "lib/libmpi_abi.so.1")))
    env.update({"LD_LIBRARY_PATH": lib, "HOME": home, "TMPDIR": home, **more})
    return env


def run(command, env, limit=60):
    """Status and all output of one command; a command that hangs fails the test."""
    print("+", " ".join(command), flush=True)
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.terminate()  # so that it can take its ranks with it
        try:
            output, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
        print(output, end="", flush=True)
        raise
    print(output, end="", flush=True)
    return process.returncode, output


def expect(condition, what):
    """Fails the test, which must still clean up."""
    if not condition:
        raise AssertionError(what)
