#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The output of patchbay-info for an installation, and the completion in bash: info_test.py PREFIX"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PREFIX = os.path.realpath(sys.argv.pop(1))
INFO = os.path.join(PREFIX, "bin", "patchbay-info")
OURS = ["btl/self", "btl/sm", "cid/consensus", "coll/basic", "coll/self", "pml/ob1"]


class InfoTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
        self.environment["HOME"] = self.home

    def write(self, name, text):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_info(self, *arguments, status=0):
        done = subprocess.run([INFO, *arguments], env=self.environment, capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.errors = done.stderr
        return done.stdout

    def run_json(self, *arguments, status=0):
        return json.loads(self.run_info("--json", *arguments, status=status))

    def params(self, *arguments, status=0):
        return {one["name"]: one for one in self.run_json("--param", "all", *arguments, status=status)["parameters"]}

    def decisions(self, *arguments, status=0):
        rows = self.run_json("--explain", *arguments, status=status)["decisions"]
        return {(row["framework"], row["for"], row["candidate"]): row for row in rows}

    def test_full_disk(self):
        for arguments in (["--json"], ["--param", "all"], ["--help"], ["--version"]):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                done = subprocess.run([INFO, *arguments], env=self.environment, stdout=full, stderr=subprocess.PIPE,
                                      text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn("cannot write the output", done.stderr)

    # Versions and components

    def test_version(self):
        text = self.run_info("--version").strip()
        self.assertRegex(text, r"^Patchbay MPI \d+\.\d+\.\d+, MPI 5\.0, standard ABI 1\.0$")
        self.assertEqual(self.run_info("-V").strip(), text)
        versions = self.run_json("--components")["versions"]
        self.assertEqual(versions["library_text"], text)
        self.assertIn(" " + versions["library"] + ",", text)
        self.assertEqual((versions["mpi"], versions["mpi_abi"]), ("5.0", "1.0"))
        self.assertEqual(versions["prefix"], PREFIX)
        self.assertGreaterEqual(set(versions["frameworks"]), {"pml", "btl", "cid", "coll"})

    def test_components(self):
        entries = {f"{one['framework']}/{one['name']}": one for one in self.run_json("--components")["components"]}
        for name in OURS:
            self.assertEqual((entries[name]["status"], entries[name]["reason"]), ("usable", ""))
            self.assertTrue(entries[name]["version"] and entries[name]["summary"], name)
            file = entries[name]["file"]
            self.assertTrue(file == "(built in)" or os.path.samefile(os.path.dirname(file), PREFIX + "/lib/patchbay"))

    def test_default_is_a_table(self):
        text = self.run_info()
        self.assertEqual(text, self.run_info("--components"))
        for name in OURS:
            self.assertRegex(text, r"(?m)^" + name.replace("/", " +") + r" +\d+\.\d+\.\d+ +usable ")
        head = next(line for line in text.splitlines() if line.startswith("framework  component"))
        row = next(line for line in text.splitlines() if re.match(r"coll +basic", line))
        for column in ["component", "version", "status", "what it does", "file"]:
            self.assertEqual(row[head.index(column) - 1], " ")
            self.assertNotEqual(row[head.index(column)], " ", column)

    def run_in_terminal(self, columns, *arguments):
        script = ("import pty, sys; sys.exit(pty.spawn(['sh', '-c', 'stty cols ' + sys.argv[1] + '; exec \"$@\"', 'sh', "
                  "*sys.argv[2:]]) != 0)")
        done = subprocess.run([sys.executable, "-c", script, str(columns), INFO, *arguments], env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout

    def test_table_is_as_wide_as_the_terminal(self):
        shown = self.run_in_terminal(100, "--events")
        self.assertLessEqual(max(map(len, shown.splitlines())), 100, shown)
        piped = self.run_info("--events")
        self.assertGreater(max(map(len, piped.splitlines())), 100)
        self.assertEqual(sorted(shown.split()), sorted(piped.split()))

    def test_help_is_as_wide_as_the_terminal(self):
        shown = self.run_in_terminal(70, "--help")
        options = shown[shown.index("--components"):]
        self.assertLessEqual(max(map(len, options.splitlines())), 70, shown)
        self.assertEqual(shown.split(), self.run_info("--help").split())

    def test_broken_cells_are_whole(self):
        shown = self.run_in_terminal(70, "--components")
        self.assertEqual(sorted(shown.split()), sorted(self.run_info("--components").split()))
        self.run_in_terminal(70, "--param", "shm", "--mca", "shm_directory", " " * 100)

    def test_incompatible_and_left_out(self):
        file = self.write("plugins/mca_coll_junk.so", "no shared library")
        strange = self.write("plugins/mca_nowhere_junk.so", "nor this")
        arguments = ["--mca", "component_path", os.path.dirname(file), "--mca", "coll", "^basic"]
        entries = {f"{one['framework']}/{one['name']}": one
                   for one in self.run_json("--components", *arguments)["components"]}
        self.assertEqual(entries["coll/junk"]["status"], "incompatible")
        self.assertIn(file + " cannot be used: ", entries["coll/junk"]["reason"])
        self.assertEqual(entries["nowhere/junk"]["status"], "incompatible")
        self.assertIn(strange, entries["nowhere/junk"]["reason"])
        self.assertEqual(entries["coll/basic"]["status"], "left out")
        self.assertIn("coll=^basic [command line", entries["coll/basic"]["reason"])
        text = self.run_info(*arguments)
        self.assertRegex(text, r"coll +junk +- +incompatible [^\n]*\n    component " + re.escape(file) + " cannot be used")

    # Parameters

    def test_constructor_keys(self):
        file = self.write(".patchbay/mca-params.conf", "# ours\nwait_spin = 30us\nwait_yield = 40us\nverbose = 0\n")
        self.environment["PATCHBAY_MCA_wait_yield"] = "50us"
        self.environment["PATCHBAY_MCA_verbose"] = "0"
        params = self.params("--mca", "verbose", "0")
        expected = {
            "wait_spin": ("30us", "user file", f"file {file}:2"),
            "wait_yield": ("50us", "environment", "environment PATCHBAY_MCA_wait_yield"),
            "verbose": ("0", "command line", "command line (--mca verbose)"),
            "wait_sleep": ("true", "default", "default"),
        }
        for name, wanted in expected.items():
            self.assertEqual(tuple(params[name][key] for key in ["value", "source", "origin"]), wanted)
        self.assertRegex(self.run_info("--param", "wait"),
                         r"(?m)^wait_spin +duration +30us +200us +file " + re.escape(file) + r":2\n    how long")

    def test_scopes(self):
        names = self.run_info("--names").split()
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(set(names), set(self.params()))
        for name in ["coll", "coll_basic_barrier", "btl_sm_single_copy", "mpi_param_check", "wait_spin", "verbose"]:
            self.assertIn(name, names)

        def listed(*scope):
            return {one["name"] for one in self.run_json("--param", *scope)["parameters"]}
        self.assertEqual(listed("coll", "basic"), {name for name in names if name.startswith("coll_basic_")})
        self.assertEqual(listed("coll"), {name for name in names if re.match(r"coll(_|$)", name)})
        self.assertEqual(listed("btl", "sm"), {name for name in names if name.startswith("btl_sm_")})
        self.assertTrue({"verbose", "explain", "component_path"} <= listed("core"))

    def test_enumeration(self):
        one = self.params()["coll_basic_barrier"]
        self.assertEqual((one["type"], one["default"], one["group"], one["component"]),
                         ("enum", "auto", "coll", "basic"))
        self.assertEqual(one["choices"], ["auto", "linear", "tree", "doubling"])
        self.assertIn("MPI_Barrier (auto, linear, tree, doubling)", self.run_info("--param", "coll", "basic"))

    def test_one_parameter_and_all(self):
        listed = self.run_json("--param", "btl_sm_slots")["parameters"]
        self.assertEqual([(one["name"], one["range"]) for one in listed], [("btl_sm_slots", "8..32768")])
        self.assertIn("a power of two (8..32768)", self.run_info("--param", "btl_sm_slots"))
        self.assertEqual(self.run_info("--param", "all", "all"), self.run_info("--param", "all"))
        self.assertEqual(self.run_info("--param", "btl", "all"), self.run_info("--param", "btl"))
        self.run_info("--param", "btl_sm_slots", "sm", status=2)
        self.assertIn("there is no framework 'btl_sm_slots'", self.errors)

    def test_every_number_has_a_range(self):
        """A negative number or one beyond an int that a component casts must be an error, not another number."""
        self.assertEqual([name for name, one in self.params().items() if one["type"] == "int" and not one["range"]], [])
        self.assertIn("'101' is not in the range 0..100", self.refused("coll_sm_priority", "101"))
        self.assertIn("'8KiB' is not in the range 0..4KiB", self.refused("coll_sm_longest", "8KiB"))

    def refused(self, name, value):
        self.params("--mca", name, value, status=1)
        return self.errors

    def test_wrong_parameters(self):
        self.assertEqual(self.params("--mca", "wait_spin", "soon", status=1)["wait_spin"]["value"], "200us")
        self.assertRegex(self.errors, r"wait_spin.*soon")
        self.run_info("--mca", "wait_spim", "1us")
        self.assertRegex(self.errors, r"wait_spim.*wait_spin")
        self.assertEqual(len(self.errors.splitlines()), 1, self.errors)

    def test_lists_that_fail_init(self):
        for name, value, text in [("btl", "sn", "framework btl has no component 'sn'"), ("pml", "ob1,^ob1", "pml"),
                                  ("mpi_check", "leak", "'leak' is no check")]:
            self.params("--mca", name, value, status=1)
            self.assertIn(text, self.errors)
            self.assertIn(f"[command line (--mca {name})]", self.errors)
            self.assertEqual(len(self.errors.splitlines()), 1, self.errors)

    def test_parameter_in_two_scopes_is_listed_once(self):
        self.assertEqual(self.run_info("--param", "btl", "sm", "--param", "btl", "sm"),
                         self.run_info("--param", "btl", "sm"))

    # What MPI_T lists

    def test_tool_interface(self):
        listed = self.run_json("--pvars", "--events", "--categories")
        self.assertEqual(list(listed), ["performance_variables", "events", "categories"])
        variables = {one["name"]: one for one in listed["performance_variables"]}
        sent = variables["pml_ob1_messages_sent"]
        self.assertEqual((sent["class"], sent["binding"], sent["continuous"], sent["readonly"]),
                         ("counter", "none", False, False))
        self.assertIn("allreduce", variables["coll_component"]["help"])
        self.assertIn("tuned", variables["coll_component"]["choices"])
        events = {one["name"]: one for one in listed["events"]}
        self.assertEqual(events["pml_ob1_unexpected_message"]["elements"], ["int", "int", "count"])
        categories = {one["name"]: one for one in listed["categories"]}
        self.assertIn("pml_ob1", categories["pml"]["categories"])
        self.assertIn("pml_ob1_unexpected_limit", categories["pml_ob1"]["parameters"])
        self.assertIn("pml_ob1_unexpected_message", categories["pml_ob1"]["events"])
        self.assertRegex(self.run_info("--pvars"), r"(?m)^pml_ob1_messages_sent +counter +none +when started")
        self.assertRegex(self.run_info("--events"), r"(?m)^mpi_peer_failed +int, int +none")
        self.assertRegex(self.run_info("--categories"), r"(?m)^origin +where")

    def test_origins_are_categories(self):
        self.environment["PATCHBAY_MCA_wait_yield"] = "50us"
        categories = {one["name"]: one["parameters"]
                      for one in self.run_json("--categories", "--mca", "wait_spin", "3us")["categories"]}
        self.assertEqual(categories["origin_environment"], ["wait_yield"])
        self.assertEqual(categories["origin_command_line"], ["wait_spin"])
        self.assertIn("wait_sleep", categories["origin_default"])
        names = set(self.run_info("--names").split())
        self.assertEqual(names, {name for origin, list_ in categories.items() if origin.startswith("origin_")
                                 for name in list_})

    # Functions and choices

    def test_unimplemented(self):
        names = self.run_info("--unimplemented").split()
        self.assertEqual(names, self.run_json("--unimplemented")["unimplemented"])
        header = ""
        for file in ["mpi.h", "mpix.h"]:
            with open(os.path.join(PREFIX, "include", file), encoding="utf-8") as text:
                header += text.read()
        for name in names:
            self.assertIn(name + "(", header)
        self.assertFalse({"MPI_Init", "MPI_Send", "MPI_Barrier"} & set(names))

    def test_explain(self):
        rows = self.decisions()
        self.assertEqual(rows[("coll", "MPI_COMM_WORLD", "self")]["outcome"], "chosen")
        pml = [row for (framework, _, name), row in rows.items() if (framework, name) == ("pml", "ob1")]
        self.assertEqual([row["outcome"] for row in pml], ["chosen"])
        self.assertEqual({object for framework, object, _ in rows if framework in ("pml", "btl")}, {"job"})
        text = self.run_info("--explain", "--mca", "coll", "^self")
        self.assertRegex(text, r"(?m)^coll +job +self +excluded +- +left out by coll=\^self \[command line")
        self.assertRegex(text, r"(?m)^coll +MPI_COMM_WORLD.* basic +chosen ")
        self.assertRegex(text, r"(?m)^coll +\^self +.*command line")
        self.assertEqual(self.errors, "")

    def test_explain_decision_table(self):
        text = self.run_info("--explain")
        copy = f"{PREFIX}/share/patchbay/coll_tuned.json"
        self.assertIn(f"built in; a copy is {copy}\n", text)
        rules = re.findall(r"(?m)^coll +decision table +tuned +chosen +0 +(.*: .*)$", text)
        self.assertGreater(len(rules), 10)
        named = self.run_info("--explain", "--mca", "coll_tuned_table", copy)
        self.assertIn(f"read from {copy}\n", named)
        for rule in rules:
            self.assertIn(rule + "\n", named)
        own = self.write("table.json", '{"bcast": [\n{"ranks": [3, 8], "bytes_below": "4KiB", "use": "linear"}]}')
        text = self.run_info("--explain", "--mca", "coll_tuned_table", own)
        self.assertRegex(text, r"(?m)^coll +decision table +tuned +chosen .*read from " + own)
        self.assertRegex(text, r"(?m)^coll +decision table.* bcast, 3 to 8 ranks, below 4KiB: linear$")
        self.assertNotIn("reduce,", text)
        self.assertEqual(self.errors, "")

    def test_wrong_decision_table(self):
        own = self.write("table.json", '{"bcast": [\n{"use": "linaer"}]}')
        text = self.run_info("--explain", "--mca", "coll_tuned_table", own)
        self.assertIn(f"{own}:2: bcast has no algorithm 'linaer'; did you mean 'linear'?", self.errors)
        self.assertEqual(len(self.errors.splitlines()), 1, self.errors)
        self.assertRegex(text, r"(?m)^coll +job +tuned +declined")

    def test_explain_failure(self):
        self.assertEqual(self.decisions("--mca", "pml", "ob2", status=1), {})
        self.assertRegex(self.errors, "did you mean 'ob1'")
        # Framework cid is opened by the first constructor, but a list that cannot be is reported at once.
        self.run_info("--explain", "--mca", "cid", "excd", status=1)
        self.assertRegex(self.errors, "did you mean 'excid'")
        self.assertEqual(len(self.errors.splitlines()), 1, self.errors)

    # The command line

    def test_wrong_arguments(self):
        for arguments, said in [
                (["--parm", "btl"], "did you mean --param"),
                (["--xyzzy"], "--help"),
                (["btl"], "unexpected argument 'btl'"),
                (["--param"], "param"),
                (["--param", "colll"], "did you mean 'coll'"),
                (["--param", "coll", "basik"], "did you mean 'basic'"),
                (["--mca", "coll"], "a name and a value")]:
            self.assertEqual(self.run_info(*arguments, status=2), "")
            self.assertIn(said, self.errors)
            self.assertEqual(len(self.errors.splitlines()), 1, self.errors)

    def test_all_has_no_component(self):
        self.assertEqual(self.run_info("--param", "all", "nonsense", status=2), "")
        self.assertIn("'all' has no component 'nonsense': name its framework", self.errors)
        self.assertEqual(self.run_info("--param", "core", "verbose", status=2), "")
        self.assertIn("core has no component 'verbose', but parameters of its own only", self.errors)

    def test_help(self):
        text = self.run_info("--help")
        for option in ["--components", "--param", "--unimplemented", "--explain", "--json", "--version"]:
            self.assertIn(option, text)
        self.assertEqual(text, self.run_info("-h"))

    def test_default_json_has_everything_known_without_starting(self):
        self.assertEqual(list(self.run_json()), ["versions", "components", "parameters", "unimplemented"])

    def complete(self, *words):
        """What bash offers for the last of these words."""
        script = f"""
            . {PREFIX}/share/bash-completion/completions/{words[0]}
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _patchbay {PREFIX}/bin/"$1"
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "-c", script, "bash", *words], env=self.environment, capture_output=True,
                              text=True, timeout=60, check=True)
        return done.stdout.split()

    def test_completion(self):
        self.assertIn("coll_basic_barrier", self.complete("mpirun", "-n", "2", "--mca", "coll_basic_b"))
        self.assertIn("--tag-output", self.complete("mpirun", "--tag"))
        self.assertIn("coll", self.complete("patchbay-info", "--param", "co"))
        groups = {one["group"] for one in self.params().values()}
        self.assertEqual(set(self.complete("patchbay-info", "--param", "")), groups | {"all"})
        self.assertTrue({"core", "mpi", "runtime", "shm", "wait"} < groups, groups)
        self.assertEqual(set(self.complete("patchbay-info", "--param", "btl", "")), {"all", "self", "sm", "socket"})
        self.assertIn("--unimplemented", self.complete("patchbay-info", "--u"))
        self.assertIn("btl_sm_single_copy=", self.complete("patchbay-ab", "--a", "btl_sm_s"))
        self.assertIn("--warm-up", self.complete("patchbay-ab", "--w"))
        self.assertIn("-H", self.complete("mpirun", "-H"))
        self.assertIn("coll_basic_barrier", self.complete("mpirun", "-mca", "coll_basic_b"))
        self.assertEqual(self.complete("mpirun", "--bind-to", ""), ["core", "none"])
        self.assertEqual(set(self.complete("mpirun", "-map-by", "")), {"slot", "core", "numa", "socket", "node"})
        self.assertEqual(self.complete("mpirun", "--mca", "wait_oversubscribed", ""), ["auto", "yes", "no"])
        self.assertEqual(self.complete("mpirun", "--mca", "wait_spin", ""), [])
        self.assertEqual(set(self.complete("patchbay-ab", "--reference", "")), {"openmpi", "mpich"})


if __name__ == "__main__":
    unittest.main()
