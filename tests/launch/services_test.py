#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Services of the PMIx server for the ranks."""

import re

import harness


class Services(harness.LaunchTest):
    def test_job_information(self):
        result = self.run_ranks(3, "init", "job", "finalize")
        self.assert_result(result, 0)
        for rank, line in enumerate(result.lines()):
            self.assertRegex(line, rf"^rank {rank} of 3, app 0 of 1, local {rank} of 3, universe \d+, peers 0,1,2$")
            self.assertGreaterEqual(int(re.search(r"universe (\d+)", line).group(1)), 3)

    def test_exchange(self):
        result = self.run_ranks(8, "init", "exchange", "finalize")
        self.assert_result(result, 0, err_lines=0)
        self.assertEqual(result.out, "exchange ok\n" * 8)

    def test_many_ranks(self):
        self.assert_result(self.run_ranks(64, "init", "exchange", "finalize", limit=60), 0, err_lines=0)

    def test_names(self):
        result = self.run_ranks(2, "init", "miss=port", "fence", "1/lookup=port", "0/sleep=0.2", "0/publish=port",
                                "fence", "0/lookup=port", "fence", "0/unpublish=port", "fence", "miss=port",
                                "finalize")
        self.assert_result(result, 0, err_lines=0)
        self.assertEqual(result.lines(), ["rank 0 found here I am of rank 0", "rank 1 found here I am of rank 0"])

    def test_texts_that_are_null(self):
        result = self.run_ranks(1, "init", "null-texts", "finalize")
        self.assert_result(result, 0, err_lines=0)

    def test_replies_amid_events(self):
        # A reply that is put into the connection's queue while PMIx empties the queue is never sent: then a rank hangs.
        psets = [word for name in "abc" for word in ("--pset", f"{name}=0-3")]
        result = self.run_ranks(4, "init", "request-amid-events=1000", "fence", "finalize", options=psets, limit=60)
        self.assert_result(result, 0, err_lines=0)
        self.assertEqual(result.out, "requested\n" * 4)

    def test_groups_get_different_identifiers(self):
        result = self.run_ranks(4, "init", "group=a:0,1,2,3", "pmix-group=b", "0/group=c:0,1", "1/group=c:0,1",
                                "2/group=d:2,3", "3/group=d:2,3", "group=a:0,1,2,3", "finalize")
        self.assert_result(result, 0, err_lines=0)
        found = re.findall(r"group (\w) id (\d+)", result.out)
        self.assertEqual(len(found), 16, str(result))
        identifiers = {}
        for name, identifier in found:
            identifiers.setdefault(name, set()).add(identifier)
        # a was built twice, one after the other.
        self.assertEqual({name: len(values) for name, values in identifiers.items()}, {"a": 2, "b": 1, "c": 1, "d": 1})
        self.assertEqual(len(set.union(*identifiers.values())), 5)

    def test_group_with_a_member_that_has_left(self):
        result = self.run_ranks(3, "init", "fence", "2/finalize", "2/exit=0", "sleep=0.3", "group=a:0,1,2", "finalize")
        self.assert_result(result, 0)
        self.assertEqual(result.out, "group a PROC-ABORTED\n" * 2)

    def test_group_whose_member_leaves_while_others_wait(self):
        result = self.run_ranks(3, "init", "fence", "2/sleep=0.3", "2/finalize", "2/exit=0", "group=a:0,1,2",
                                "finalize")
        self.assert_result(result, 0)
        self.assertEqual(result.out, "group a PROC-ABORTED\n" * 2)

    def test_group_with_different_member_lists(self):
        # mpirun reads the requests of rank 0 in order, so that it knows the group's members when rank 1 finds the name.
        result = self.run_ranks(2, "init", "0/begin-group=a:0,1", "0/publish=begun", "1/lookup=begun", "1/group=a:1",
                                "1/group=a:1,0", "0/end-group", "finalize")
        self.assert_result(result, 0)
        self.assertIn("group a BAD-PARAM\n", result.out)
        self.assertEqual(len(re.findall(r"group a id \d+\n", result.out)), 2)

    def test_group_of_strangers(self):
        result = self.run_ranks(2, "init", "0/group=a:0,7", "1/group=b:0", "finalize")
        self.assert_result(result, 0)
        self.assertEqual(result.lines(), ["group a BAD-PARAM", "group b BAD-PARAM"])


if __name__ == "__main__":
    harness.main()
