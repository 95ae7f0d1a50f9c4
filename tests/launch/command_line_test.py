#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Options: their effect, and the messages about wrong ones."""

import os
import re
import socket
import subprocess
import sys

import harness


class CommandLine(harness.LaunchTest):
    def test_number_of_ranks(self):
        for option in ("-n", "-np", "--np", "-c"):
            result = self.run_words(option, "3", "sh", "-c", "echo $PMIX_RANK")
            self.assertEqual(result.lines(), ["0", "1", "2"], option)
        self.assertEqual(len(self.run_words("--np=2", "echo").lines()), 2)

    def test_default_is_one_rank_per_core(self):
        cores = len(os.sched_getaffinity(0))
        ranks = len(self.run_words("echo", "x").lines())
        self.assertTrue(1 <= ranks <= cores)

    def test_wrong_numbers(self):
        for number in ("0", "-1", "two", "", "3x", "99999999999999999999"):
            result = self.run_words("-n", number, "true")
            self.assert_result(result, 2, err_lines=1)
            self.assertIn("-n", result.err)
        self.assertIn("99999999999999999999 ranks are more than a job can have", result.err)

    def test_too_many_ranks(self):
        for number in ("70000", "1000000"):
            result = self.run_words("-n", number, "true")
            self.assert_result(result, 1, err_lines=1)
            self.assertIn(f"{number} ranks are more than a node can have: 65536", result.err)

    def with_limit(self, limit, *words):
        """mpirun with these words and a limit of the shell's ulimit."""
        limited = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", harness.MPIRUN, *words]
        return subprocess.run(limited, env=self.environment(), capture_output=True, text=True, timeout=60, check=False)

    def test_more_ranks_than_open_files(self):
        done = self.with_limit("-n 64", "-n", "40", "true")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("40 ranks need 120 open files in mpirun and more, but the limit is 64; raise it (ulimit -Hn)",
                      done.stderr)

    def test_open_files_of_output_files(self):
        prefix = self.path("out")
        done = self.with_limit("-n 64", "--output-filename", prefix, "-n", "12", "true")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("12 ranks need 60 open files", done.stderr)
        done = self.with_limit("-Sn 256", "--output-filename", prefix, "-n", "110", harness.RANK_PROGRAM, "init",
                               "fence", "finalize")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_memory_of_too_many_ranks(self):
        done = self.with_limit("-v 2000000", "-n", "30000000", "true")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("30000000 ranks are more than a node can have: 65536", done.stderr)

    def test_missing_interpreter(self):
        with open(self.path("tool"), "w", encoding="ascii") as out:
            out.write("#!/no/such/shell\n")
        os.chmod(self.path("tool"), 0o755)
        result = self.run_words("-n", "1", self.path("tool"))
        self.assert_result(result, 127, err_lines=1)
        self.assertIn("the interpreter that its first line, or its ELF header, names does not exist", result.err)

    def test_no_program(self):
        self.assert_result(self.run_words(), 2, err_lines=1)
        self.assert_result(self.run_words("-n", "2"), 2, err_lines=1)
        result = self.run_words("-n", "2", "true", ":")
        self.assert_result(result, 2, err_lines=1)
        self.assertIn("no program given behind ':'", result.err)

    def test_missing_value(self):
        result = self.run_words("--mca", "name")
        self.assert_result(result, 2, err_lines=1)
        self.assertIn("NAME VALUE", result.err)
        result = self.run_words("--mca", "verbose", "-n", "1", "true")
        self.assert_result(result, 2, err_lines=1)
        self.assertIn("the value of verbose is missing: -n is an option", result.err)

    def test_few_open_files(self):
        done = self.with_limit("-Sn 16", "-n", "2", "echo", "x")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "x\nx\n", ""))

    def test_unknown_option(self):
        result = self.run_words("--tag-ouput", "true")
        self.assert_result(result, 2, err_lines=1)
        self.assertIn("unknown option --tag-ouput; did you mean --tag-output?", result.err)
        self.assert_result(self.run_words("--xyzzy-quux", "true"), 2, err_lines=1)

    def test_hosts_are_this_machine(self):
        own = socket.gethostname()
        hosts = self.path("hosts")
        with open(hosts, "w", encoding="utf-8") as file:
            file.write(f"# all on one machine\n{own}\tslots=2\n\nlocalhost:1  # one more\n127.0.0.1\n")
        for option in (["--host", own], ["-H", f"localhost,{own},::1"], ["-hosts", "127.0.0.1"],
                       ["--host", f"LocalHost,127.0.1.1,{own.upper()}"]):
            self.assertEqual(self.run_words("-n", "3", *option, "echo", "x").lines(), ["x"] * 3, option)
        for option in (["--host", f"localhost:2,{own}:1"], ["--hostfile", hosts], ["-machinefile", hosts], ["-f", hosts]):
            self.assertEqual(self.run_words(*option, "echo", "x").lines(), ["x"] * 3, option)
            self.assertEqual(self.run_words(*option, "-n", "1", "echo", "x").lines(), ["x"], option)
            self.assertEqual(self.run_words("-n", "1", *option, "echo", "x").lines(), ["x"], option)

    def test_other_hosts_are_refused(self):
        hosts = self.path("hosts")
        with open(hosts, "w", encoding="utf-8") as file:
            file.write("localhost\nlocalhost max_slots=2\n")
        for option, text in (
            (["--host", "far.example"], "option --host: 'far.example' is not this machine"),
            (["--host", ","], "option --host: ',' names no host"),
            (["--host", "localhost:x"], "option --host: 'x' is no number of slots"),
            (["--host", "localhost:"], "option --host: '' is no number of slots"),
            (["--host", "localhost:0"], "option --host: '0' is no number of slots"),
            (["-f", hosts], f"option -f: {hosts}:2: a line must be HOST, HOST:N or HOST slots=N"),
            (["-f", "/nowhere/hosts"], "option -f: /nowhere/hosts: No such file or directory"),
        ):
            result = self.run_words(*option, "true")
            self.assert_result(result, 2, err_lines=1)
            self.assertIn(text, result.err)

    def test_options_end_at_the_program(self):
        result = self.run_words("-n", "1", "echo", "-n", "--mca", "x")
        self.assertEqual(result.out, "--mca x")
        self.assertEqual(self.run_words("-n", "1", "--", "echo", "a").out, "a\n")

    def test_help_names_every_option(self):
        result = self.run_words("--help")
        self.assert_result(result, 0, err_lines=0)
        for option in ("--np", "--mca", "--export", "--wdir", "--path", "--bind-to", "--map-by", "--oversubscribe",
                       "--timeout", "--pset", "--tag-output", "--output-filename", "--timing", "--explain", "--version", "--host", "--hostfile", "-c.", "--gmca", "--env", "--genv", "--wd.", "--prepend-rank, -l"):
            self.assertIn(option, result.out)
        self.assertLessEqual(max(map(len, result.out.splitlines())), 110)

    def test_version(self):
        self.assertRegex(self.run_words("--version").out, r"^mpirun \(Patchbay MPI\) \d+\.\d+\.\d+\n$")

    def test_parameters(self):
        result = self.run_words("-n", "1", "--mca", "btl", "self,sm", "-mca", "a_b", "1", "--mca", "btl", "sm", "env")
        self.assertIn("PATCHBAY_MCA_btl=sm\n", result.out)
        self.assertIn("PATCHBAY_MCA_a_b=1\n", result.out)
        self.assertIn("PATCHBAY_MCA_CMDLINE=btl,a_b\n", result.out)
        result = self.run_words("-n", "1", "-x", "PATCHBAY_MCA_a=2", "-x", "PATCHBAY_MCA_b=3", "--mca", "a", "1", "env")
        self.assertIn("PATCHBAY_MCA_a=1\n", result.out)
        self.assertIn("PATCHBAY_MCA_b=3\n", result.out)

    def test_parameters_from_the_environment_do_not_come_from_the_command_line(self):
        result = self.run_words("-n", "1", "--mca", "a", "1", "env",
                                env={"PATCHBAY_MCA_b": "2", "PATCHBAY_MCA_CMDLINE": "b"})
        self.assertIn("PATCHBAY_MCA_CMDLINE=a\n", result.out)
        self.assertIn("PATCHBAY_MCA_b=2\n", result.out)
        result = self.run_words("-n", "1", "env", env={"PATCHBAY_MCA_CMDLINE": "b"})
        self.assertNotIn("PATCHBAY_MCA_CMDLINE", result.out)

    def test_explain(self):
        self.assertIn("PATCHBAY_MCA_explain=1\n", self.run_words("-n", "1", "--explain", "env").out)

    def test_exported_variables(self):
        result = self.run_ranks(1, "env=A", "env=B", "env=C", options=("-x", "A=1=2", "-x", "B", "--export", "C="),
                                env={"B": "b", "A": "0"})
        self.assertEqual(result.out, "A=1=2\nB=b\nC=\n")
        result = self.run_words("-n", "1", "-x", "NOT_SET_HERE", "true")
        self.assert_result(result, 2, err_lines=1)
        self.assertIn("NOT_SET_HERE", result.err)

    def test_variables_as_in_mpich(self):
        result = self.run_words("-genv", "A", "1", "-genv", "B=2", "-env", "C", "3=4", "-n", "1", "env", ":",
                                "-env", "B=", "--env=C=5", "-n", "1", "env")
        self.assert_result(result, 0)
        values = [line for line in result.lines() if line[:2] in ("A=", "B=", "C=")]
        self.assertEqual(sorted(values), ["A=1", "A=1", "B=", "B=2", "C=3=4", "C=5"])
        for words in (["-env", "", "x"], ["-env", "=x"], ["-env=A"], ["-env", "A", "-n", "1"], ["-n", "1", "-genv", "A"]):
            self.assert_result(self.run_words(*words, "true"), 2, err_lines=1)

    def test_repeated_options(self):
        result = self.run_words("-n", "2", "--wdir", "/", "-n", "3", "--wdir", "/tmp", "pwd")
        self.assertEqual(result.lines(), ["/tmp"] * 3)
        result = self.run_words("--host", "localhost:2", "--host", "localhost", "--host", "localhost:1", "echo", "x")
        self.assertEqual(result.lines(), ["x"] * 3)

    def test_help_is_as_wide_as_the_terminal(self):
        script = "import pty, sys; sys.exit(pty.spawn(['sh', '-c', 'stty cols 80; exec \"$0\" --help', sys.argv[1]]) != 0)"
        done = subprocess.run([sys.executable, "-c", script, harness.MPIRUN], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=30, check=True)
        self.assertIn("--no-oversubscribe", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)

    def test_variables_of_another_launcher_are_not_passed_on(self):
        result = self.run_words("-n", "1", "env", env={"PMIX_NAMESPACE": "other", "PMIX_SERVER_URI": "nowhere",
                                                       "PMIX_RANK": "5", "PMIX_MCA_kept": "1",
                                                       "PATCHBAY_NODE_SEGMENT": "fd=77"})
        self.assert_result(result, 0)
        self.assertNotIn("other\n", result.out)
        self.assertNotIn("nowhere", result.out)
        self.assertIn("PMIX_RANK=0\n", result.out)
        self.assertIn("PMIX_MCA_kept=1\n", result.out)
        self.assertNotIn("fd=77", result.out)

    def test_mpirun_started_by_a_rank(self):
        # Each rank starts a job of its own; none of them is taken for the outer one's.
        inner = f"{harness.MPIRUN} -n 2 {harness.RANK_PROGRAM} init job finalize"
        result = self.run_words("-n", "2", "sh", "-c", f"{harness.RANK_PROGRAM} init fence finalize; {inner}")
        self.assert_result(result, 0, err_lines=0)
        self.assertEqual([line[:11] for line in result.lines()], ["rank 0 of 2"] * 2 + ["rank 1 of 2"] * 2)

    def test_launchers_own_settings_stay_its_own(self):
        self.assertNotIn("HWLOC", self.run_words("-n", "1", "env").out)

    def test_working_directory(self):
        result = self.run_words("-n", "1", "--wdir", self.directory, "pwd")
        self.assertEqual(result.out.strip(), os.path.realpath(self.directory))
        # A path without a slash in front is one from the directory of mpirun.
        os.mkdir(self.path("work"))
        with open(self.path("work/tool"), "w", encoding="ascii") as out:
            out.write("#!/bin/sh\npwd\n")
        os.chmod(self.path("work/tool"), 0o755)
        for program in ("./tool", "tool"):
            result = self.run_words("-n", "1", "--wdir", "work", program, cwd=self.directory,
                                    env={"PATH": ".:" + os.environ["PATH"]})
            self.assertEqual(result.out.strip(), os.path.realpath(self.path("work")), str(result))
        result = self.run_words("-n", "2", "-wdir", "/no/such/place", "true")
        self.assert_result(result, 1, err_lines=1)
        self.assertIn("working directory /no/such/place: No such file or directory", result.err)

    def test_search_path(self):
        with open(self.path("tool"), "w", encoding="ascii") as out:
            out.write("#!/bin/sh\necho found\n")
        os.chmod(self.path("tool"), 0o755)
        self.assertEqual(self.run_words("-n", "1", "--path", f"/nothing:{self.directory}", "tool").out, "found\n")
        self.assert_result(self.run_words("-n", "1", "tool"), 127, err_lines=1)

    def test_several_programs(self):
        result = self.run_words("-n", "2", "-x", "W=a", harness.RANK_PROGRAM, "init", "job", "env=W", "finalize", ":",
                                "-n", "1", "-x", "W=b", harness.RANK_PROGRAM, "init", "job", "env=W", "finalize", ":",
                                harness.RANK_PROGRAM, "init", "job", "env=W", "finalize")
        self.assert_result(result, 0)
        jobs = [re.match(r"rank (\d) of (\d), app (\d) of (\d)", line).groups() for line in result.lines()
                if line.startswith("rank")]
        self.assertEqual(jobs, [("0", "4", "0", "3"), ("1", "4", "0", "3"), ("2", "4", "1", "3"), ("3", "4", "2", "3")])
        self.assertEqual([line for line in result.lines() if line.startswith("W")],
                         ["W=(unset)", "W=a", "W=a", "W=b"])

    def test_binding(self):
        cpus = sorted(os.sched_getaffinity(0))
        one = self.run_ranks(1, "cpus", options=("--bind-to", "core")).out.split()[3]
        self.assertLess(len(one.split(",")), max(2, len(cpus)))
        free = self.run_ranks(1, "cpus", options=("--bind-to", "none")).out.split()[3]
        self.assertEqual([int(cpu) for cpu in free.split(",")], cpus)
        # By default ranks are bound only while each one has a core of its own.
        many = self.run_ranks(len(cpus) + 1, "cpus")
        self.assertEqual({line.split()[3] for line in many.lines()}, {free})
        self.assertEqual(self.run_ranks(1, "cpus").out.split()[3], one)

    def test_binding_deals_out_different_cores(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core only")
        for map_by in ("slot", "core", "socket", "numa", "node"):
            ranks = len(self.run_words("echo").lines())
            result = self.run_ranks(ranks, "cpus", options=("--bind-to", "core", "--map-by", map_by))
            self.assertEqual(len({line.split()[3] for line in result.lines()}), ranks, map_by)

    def test_binding_respects_the_affinity_of_mpirun(self):
        cpu = max(os.sched_getaffinity(0))
        result = self.run_ranks(2, "cpus", "env=PATCHBAY_NODE_CORES", options=("--bind-to", "core"),
                                preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        self.assert_result(result, 0)
        self.assertEqual({line.split()[3] for line in result.lines() if line.startswith("rank")}, {str(cpu)})
        self.assertIn("PATCHBAY_NODE_CORES=1\n", result.out)

    def test_oversubscription_can_be_forbidden(self):
        many = str(len(os.sched_getaffinity(0)) + 1)
        result = self.run_words("-n", many, "--no-oversubscribe", "true")
        self.assert_result(result, 2, err_lines=1)
        self.assert_result(self.run_words("-n", many, "--oversubscribe", "--allow-run-as-root", "true"), 0, err_lines=0)

    def test_wrong_words(self):
        for words in (("--bind-to", "moon"), ("--map-by", "moon"), ("--timeout", "soon"), ("--timeout", "0"),
                      ("--timing=yes",), ("--mca=x", "y"), ("-x", "=1")):
            result = self.run_words("-n", "1", *words, "true")
            self.assert_result(result, 2, err_lines=1)

    def test_wrong_timeout_variable(self):
        result = self.run_words("-n", "1", "true", env={"MPIEXEC_TIMEOUT": "soon"})
        self.assert_result(result, 2, err_lines=1)
        self.assertIn("MPIEXEC_TIMEOUT", result.err)

    def test_timing(self):
        result = self.run_ranks(2, "init", "fence", "finalize", options=("--timing",))
        self.assert_result(result, 0)
        for step in ("parse", "PMIx server", "register", "spawn", "first rank connects", "last rank connects", "run",
                     "tear down", "total"):
            self.assertIn(step, result.err)
        # These ranks do not use MPI; tests/init has ranks that do.
        without = [line for line in result.err.splitlines() if line.endswith(" -")]
        self.assertEqual(["MPI_Init is done" in line for line in without], [True, True], result.err)


if __name__ == "__main__":
    harness.main()
