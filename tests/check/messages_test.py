#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The texts that a user reads when mpi_check finds a mistake, all of them and nothing else:
messages_test.py RUNTIME PROGRAM SOURCE SUBJECT, where SUBJECT is one of leaks, collectives, types, buffers, windows."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

PREFIX = re.compile(r"^\[[^:\]]*:(\d+)\] patchbay: (.*)$")
LABEL = re.compile(r"/\* line: (\w+) \*/")

REMEDY = {
    "request": "complete each with MPI_Wait or MPI_Test; free persistent ones with MPI_Request_free",
    "communicator": "free each with MPI_Comm_free",
}
WAIT = "Complete it (MPI_Wait, MPI_Test) before the buffer is changed"
ORDER = "All members must call the same collectives in the same order"
SAME = "What is sent and what is received must be the same basic types in the same number"
CONFLICT = ("in the same epoch, with no flush between the calls: the result is not defined. Complete the first operation "
            "before (MPI_Win_flush), or let both be accumulates of the same type")
TYPES = "Give the same basic types in the same order on both sides"

# How each line begins, behind the rank.
LEVEL = {"leaks": "warning", "collectives": "error", "types": "error", "buffers": "error", "windows": "error"}
# Subject -> (case, number of ranks, the expected lines as "rank text"). {label} stands for the file and line.
CASES = {
    "leaks": [
        ("leak_objects", 1, [
            "0 mpi_check leaks: the program has not freed 10 objects:",
            "0   1 window of MPI_Win_allocate at {window} in leak_objects (named left): free each with MPI_Win_free",
            "0   1 communicator of MPI_Comm_dup at {dup} in leak_objects (named lost): " + REMEDY["communicator"],
            "0   1 communicator of MPI_Comm_idup at {idup} in leak_objects: " + REMEDY["communicator"],
            "0   2 communicators of MPI_Comm_split at {split} in leak_objects: " + REMEDY["communicator"],
            "0   1 group of MPI_Comm_group at {group} in leak_objects: free each with MPI_Group_free",
            "0   1 datatype of MPI_Type_dup at {type_dup} in leak_objects: free each with MPI_Type_free",
            "0   1 op of MPI_Op_create at {op} in leak_objects: free each with MPI_Op_free",
            "0   1 info object of MPI_Info_create at {info} in leak_objects: free each with MPI_Info_free",
            "0   1 error handler of MPI_Comm_create_errhandler at {handler} in leak_objects: free each with "
            "MPI_Errhandler_free",
        ]),
        ("leak_requests", 1, [
            "0 mpi_check leaks: the program has not freed 8 objects:",
            "0   1 request of MPI_Bcast_init on communicator MPI_COMM_SELF at {bcast_init} in leak_requests: " +
            REMEDY["request"],
            "0   1 request of MPI_Comm_idup on communicator MPI_COMM_SELF at {idup_request} in leak_requests: " +
            REMEDY["request"],
            "0   1 request of MPI_Grequest_start at {grequest} in leak_requests: " + REMEDY["request"],
            "0   1 request of MPI_Ibarrier on communicator MPI_COMM_SELF at {ibarrier} in leak_requests: " +
            REMEDY["request"],
            "0   2 requests of MPI_Irecv on communicator MPI_COMM_WORLD at {irecv} in leak_requests: " +
            REMEDY["request"],
            "0   1 request of MPI_Send_init on communicator MPI_COMM_SELF at {send_init} in leak_requests: " +
            REMEDY["request"],
            "0   1 communicator of MPI_Comm_idup at {idup_request} in leak_requests: " + REMEDY["communicator"],
        ]),
        ("leak_simple_requests", 1, [
            "0 mpi_check leaks: the program has not freed 4 objects:",
            "0   1 request of MPI_Ibsend on communicator MPI_COMM_SELF at {ibsend} in leak_simple_requests: " +
            REMEDY["request"],
            "0   1 request of MPI_Irecv on communicator MPI_COMM_WORLD at {from_null} in leak_simple_requests: " +
            REMEDY["request"],
            "0   1 request of MPI_Isend on communicator MPI_COMM_WORLD at {to_null} in leak_simple_requests: " +
            REMEDY["request"],
            "0   1 request of MPI_Isendrecv on communicator MPI_COMM_SELF at {both} in leak_simple_requests: " +
            REMEDY["request"],
        ]),
        ("leak_in_session", 1, [
            "0 mpi_check leaks: the program has not freed 2 objects:",
            "0   1 communicator of MPI_Comm_create_from_group at {from_group} in leak_in_session (named of the "
            "session): " + REMEDY["communicator"],
            "0   1 group of MPI_Group_from_session_pset at {from_pset} in leak_in_session: free each with "
            "MPI_Group_free",
        ]),
    ],
    "collectives": [
        ("other_function", 2, [
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Allreduce of 1 MPI_INT with "
            "MPI_SUM at {allreduce} in other_function, but rank 0 has called MPI_Bcast of 1 MPI_INT with root 0 at "
            "{bcast} in other_function. " + ORDER]),
        ("other_root", 2, [
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Bcast of 1 MPI_INT with root "
            "1 at {root} in other_root, but rank 0 has called MPI_Bcast of 1 MPI_INT with root 0 at {root} in "
            "other_root. Argument root differs; all members must give the same root"]),
        ("other_op", 3, [
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Allreduce of 1 MPI_DOUBLE "
            "with MPI_MAX at {after_op-1} in other_op, but rank 0 has called MPI_Allreduce of 1 MPI_DOUBLE with MPI_SUM "
            "at {after_op-1} in other_op. Argument op differs; all members must give the same op"]),
        ("other_count", 3, [
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 2 has called MPI_Reduce of 3 MPI_INT with "
            "MPI_SUM and root 0 at {count-1} in other_count, but rank 0 has called MPI_Reduce of 4 MPI_INT with MPI_SUM "
            "and root 0 at {count-1} in other_count. " + SAME]),
        ("other_type", 2, [
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Bcast of 4 MPI_FLOAT with "
            "root 0 at {type} in other_type, but rank 0 has called MPI_Bcast of 4 MPI_INT with root 0 at {type} in "
            "other_type. " + SAME]),
        ("other_form", 2, [
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Ibarrier at "
            "{other_ibarrier} in other_form, but rank 0 has called MPI_Barrier at {barrier} in other_form. " + ORDER]),
        ("other_nonblocking", 2, [
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Ibarrier at {not_ibcast} in "
            "other_nonblocking, but rank 0 has called MPI_Ibcast of 1 MPI_INT with root 0 at {ibcast} in "
            "other_nonblocking. " + ORDER]),
        ("other_persistent", 2, [
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Bcast_init of 1 MPI_INT with "
            "root 1 at {bcast_roots} in other_persistent, but rank 0 has called MPI_Bcast_init of 1 MPI_INT with root 0 "
            "at {bcast_roots} in other_persistent. Argument root differs; all members must give the same root"]),
        ("other_counts", 2, [
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Gatherv of no data with root "
            "0 at {after_gatherv-1} in other_counts, but rank 0 has called MPI_Gatherv of 1 MPI_INT with root 0 at "
            "{after_gatherv-1} in other_counts. Rank 1 sends 0 values to rank 0, which receives 1. Both must be the "
            "same basic types in the same number",
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Alltoallv at "
            "{after_alltoallv-1} in other_counts, but rank 0 has called MPI_Alltoallv at {after_alltoallv-1} in "
            "other_counts. Rank 1 sends 2 values to rank 0, which receives 1. Both must be the same basic types in the "
            "same number"]),
        ("neighbor_function", 2, [
            "0 mpi_check collectives: on communicator ring, rank 1 has called MPI_Neighbor_alltoall at {to_each} in "
            "neighbor_function, but rank 0 has called MPI_Neighbor_allgather at {to_all} in neighbor_function. " + ORDER]),
        ("neighbor_counts", 2, [
            "0 mpi_check collectives: on communicator ring, rank 1 has called MPI_Ineighbor_alltoallv at {edges} in "
            "neighbor_counts, but rank 0 has called MPI_Ineighbor_alltoallv at {edges} in neighbor_counts. Rank 1 sends 2 "
            "values to rank 0, which receives 1. Both must be the same basic types in the same number"]),
        ("other_idup", 2, [
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Bcast of 1 MPI_INT with root 0 "
            "at {after_idup} in other_idup, but rank 0 has called MPI_Bcast of 1 MPI_INT with root 0 at {after_idup} in "
            "other_idup. Rank 0 has called a constructor of communicators (MPI_Comm_dup, MPI_Comm_idup) on this "
            "communicator before, which rank 1 has not. " + ORDER]),
        ("other_constructor", 2, [
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Bcast of 1 MPI_INT with root 0 "
            "at {bcast_instead} in other_constructor, but rank 0 has called MPI_Comm_create at {create} in "
            "other_constructor. " + ORDER,
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Comm_split at {split_instead} in "
            "other_constructor, but rank 0 has called MPI_Cart_create at {cart} in other_constructor. " + ORDER,
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Win_allocate at {win_allocate-1} in "
            "other_constructor, but rank 0 has called MPI_Win_create at {win_create-1} in other_constructor. " + ORDER,
            "0 mpi_check collectives: on communicator MPI_COMM_WORLD, rank 1 has called MPI_Barrier at {barrier_instead} in "
            "other_constructor, but rank 0 has called MPI_Comm_dup at {dup_instead} in other_constructor. " + ORDER]),
        ("other_fence", 2, [
            "0 mpi_check collectives: on communicator of window grid, rank 1 has called MPI_Allreduce of 2 MPI_INT with "
            "MPI_MAX at {freed_instead} in other_fence, but rank 0 has called MPI_Barrier at {fence_instead} in "
            "other_fence. " + ORDER]),
    ],
    "types": [
        ("wrong_type", 2, [
            "1 mpi_check types: MPI_Recv from rank 0 with tag 5 on communicator MPI_COMM_WORLD at {recv} in wrong_type: "
            "the message from rank 0 with tag 5 was sent as 4 MPI_INT, but argument datatype receives it as 4 MPI_FLOAT. "
            + TYPES]),
        ("wrong_buffered", 2, [
            "1 mpi_check types: MPI_Recv from rank 0 with tag 5 on communicator MPI_COMM_WORLD at {bsent-1} in "
            "wrong_buffered: the message from rank 0 with tag 5 was sent as 4 MPI_INT, but argument datatype receives it "
            "as 4 MPI_FLOAT. " + TYPES,
            "1 mpi_check types: MPI_Recv from rank 0 with tag 5 on communicator MPI_COMM_WORLD at {ibsent-1} in "
            "wrong_buffered: the message from rank 0 with tag 5 was sent as 3 MPI_INT, but argument datatype receives it "
            "as 3 MPI_FLOAT. " + TYPES]),
        ("wrong_replace", 2, [
            "1 mpi_check types: MPI_Sendrecv_replace from rank 0 with tag 5 on communicator MPI_COMM_WORLD at {replace} in "
            "wrong_replace: the message from rank 0 with tag 5 was sent as 4 MPI_INT, but argument datatype receives it "
            "as 4 MPI_FLOAT. " + TYPES,
            "1 mpi_check types: MPI_Isendrecv_replace from rank 0 with tag 6 on communicator MPI_COMM_WORLD at {ireplace-1} "
            "in wrong_replace: the message from rank 0 with tag 6 was sent as 2 MPI_INT, but argument datatype receives "
            "it as 2 MPI_FLOAT. " + TYPES]),
        ("wrong_partitions", 2, [
            "1 mpi_check types: MPI_Precv_init from rank 0 with tag 6 on communicator MPI_COMM_WORLD at {precv_float-1} in "
            "wrong_partitions: the partitions of the matching MPI_Psend_init are 8 MPI_INT, but those of this call are 8 "
            "MPI_FLOAT. " + TYPES]),
        ("wrong_order", 2, [
            "1 mpi_check types: MPI_Irecv from MPI_ANY_SOURCE with MPI_ANY_TAG on communicator MPI_COMM_WORLD at "
            "{irecv_struct} in wrong_order: the message from rank 0 with tag 7 was sent as 1 MPI_INT, 1 MPI_DOUBLE, but "
            "argument datatype receives it as 1 MPI_DOUBLE, 1 MPI_INT. " + TYPES]),
        ("wrong_bytes", 2, [
            "1 mpi_check types: MPI_Mrecv from MPI_ANY_SOURCE with MPI_ANY_TAG on communicator MPI_COMM_WORLD at {mrecv} "
            "in wrong_bytes: the message from rank 0 with tag 0 was sent as 1 MPI_LONG_LONG_INT, but argument datatype "
            "receives it as 8 MPI_BYTE. " + TYPES]),
        ("put_other_type", 1, [
            "0 mpi_check types: MPI_Put on window grid at {put_float} in put_other_type: the origin is 2 MPI_INT, but the "
            "target's side, of rank 0, is 2 MPI_FLOAT. " + TYPES]),
    ],
    "buffers": [
        ("changed_send", 1, [
            "0 mpi_check buffers: MPI_Isend to rank 0 with tag 0 on communicator MPI_COMM_SELF at {changed} in "
            "changed_send: the program changed byte 4 of the send buffer (was 0x00, is 0x17) before the send was "
            "complete. " + WAIT]),
        ("changed_long_send", 1, [
            "0 mpi_check buffers: MPI_Isend to rank 0 with tag 3 on communicator MPI_COMM_SELF at {long_send} in "
            "changed_long_send: the program changed byte 70000 of the send buffer at {write} in write_to, before the "
            "send was complete. " + WAIT]),
        ("shared_receive", 1, [
            "0 mpi_check buffers: MPI_Irecv from rank 0 with tag 2 on communicator MPI_COMM_SELF at {second_recv} in "
            "shared_receive: 4 bytes of argument buf are in use by MPI_Irecv from rank 0 with tag 1 on communicator "
            "MPI_COMM_SELF at {first_recv} in shared_receive. Complete that operation before, or use other memory"]),
        ("sent_while_received", 1, [
            "0 mpi_check buffers: MPI_Send to rank 0 with tag 1 on communicator MPI_COMM_SELF at {send_same} in "
            "sent_while_received: 16 bytes of argument buf are in use by MPI_Irecv from rank 0 with tag 1 on "
            "communicator MPI_COMM_SELF at {under_way} in sent_while_received. Complete that operation before, or use "
            "other memory"]),
        ("changed_partition", 1, [
            "0 mpi_check buffers: MPI_Pready of partition 2 to rank 0 with tag 6 on communicator MPI_COMM_SELF at {pready} "
            "in changed_partition: the program changed byte 4 of the partition (was 0x00, is 0x17) before the send was "
            "complete. " + WAIT]),
        ("early_partition", 1, [
            "0 mpi_check buffers: MPI_Isend to rank 0 with tag 7 on communicator MPI_COMM_SELF at {early_use} in "
            "early_partition: 8 bytes of argument buf are in use by MPI_Precv_init of partition 0 from rank 0 with tag 6 "
            "on communicator MPI_COMM_SELF at {precv} in early_partition. Complete that operation before, or use other "
            "memory"]),
        ("changed_neighbor_send", 1, [
            "0 mpi_check buffers: MPI_Iallreduce on communicator ring at {sum_into} in changed_neighbor_send: 4 bytes of "
            "its buffer are in use by MPI_Ineighbor_alltoall on communicator ring at {to_neighbors} in "
            "changed_neighbor_send. Complete that operation before, or use other memory",
            "0 mpi_check buffers: MPI_Ineighbor_alltoall on communicator ring at {to_neighbors} in changed_neighbor_send: "
            "the program changed byte 0 of the send buffer (was 0x00, is 0x17) before the operation was complete. " + WAIT]),
        ("changed_persistent_collective", 1, [
            "0 mpi_check buffers: MPI_Irecv from rank 0 with tag 9 on communicator MPI_COMM_SELF at {into_started} in "
            "changed_persistent_collective: 4 bytes of argument buf are in use by MPI_Allgather_init on communicator "
            "MPI_COMM_SELF at {start_all} in changed_persistent_collective. Complete that operation before, or use other "
            "memory",
            "0 mpi_check buffers: MPI_Allgather_init on communicator MPI_COMM_SELF at {start_all} in "
            "changed_persistent_collective: the program changed byte 4 of the send buffer (was 0x00, is 0x17) before the "
            "operation was complete. " + WAIT]),
        ("changed_between_groups", 3, [
            "0 mpi_check buffers: MPI_Irecv from rank 0 with tag 9 on communicator MPI_COMM_SELF at {into_gathered} in "
            "changed_between_groups: 4 bytes of argument buf are in use by MPI_Igather on communicator both at {igather} "
            "in changed_between_groups. Complete that operation before, or use other memory",
            "2 mpi_check buffers: MPI_Igather on communicator both at {igather} in changed_between_groups: the program "
            "changed byte 4 of the send buffer (was 0x00, is 0x17) before the operation was complete. " + WAIT]),
        ("changed_origin", 1, [
            "0 mpi_check buffers: MPI_Put to rank 0 on window grid at {put_changed} in changed_origin: the program changed "
            "byte 8 of the origin buffer (was 0x03, is 0x17) before the operation was complete. Complete it (MPI_Win_flush "
            "or MPI_Win_flush_local, or the end of the epoch) before the buffer is changed"]),
        ("two_results", 1, [
            "0 mpi_check buffers: MPI_Get from rank 0 on window grid at {into_old} in two_results: 4 bytes of its buffer "
            "are in use by MPI_Fetch_and_op from rank 0 on window grid at {first_old} in two_results. Complete that "
            "operation before, or use other memory"]),
        ("into_awaited_memory", 1, [
            "0 mpi_check buffers: MPI_Bcast on communicator MPI_COMM_SELF at {bcast_awaited} in into_awaited_memory: 4 "
            "bytes of its buffer are in use by MPI_Irecv from rank 0 with tag 11 on communicator MPI_COMM_SELF at "
            "{awaited} in into_awaited_memory. Complete that operation before, or use other memory",
            "0 mpi_check buffers: MPI_Get from rank 0 on window grid at {get_awaited} in into_awaited_memory: 4 bytes of "
            "its buffer are in use by MPI_Irecv from rank 0 with tag 11 on communicator MPI_COMM_SELF at {awaited} in "
            "into_awaited_memory. Complete that operation before, or use other memory"]),
    ],
    "windows": [
        ("same_target", 1, [
            "0 mpi_check windows: MPI_Put to rank 0 on window grid at {second_put} in same_target: 4 bytes of the target's "
            "memory are accessed by MPI_Put to rank 0 on window grid at {first_put} in same_target " + CONFLICT,
            "0 mpi_check windows: MPI_Accumulate to rank 0 on window grid at {sum_after} in same_target: 4 bytes of the "
            "target's memory are accessed by MPI_Get from rank 0 on window grid at {get_after} in same_target " + CONFLICT,
        ]),
    ],
}


class Messages(unittest.TestCase):
    maxDiff = None
    runtime = program = source = subject = ""

    def lines_of_source(self):
        """{label} and {label-1} -> file:line."""
        places = {}
        with open(self.source, encoding="utf-8") as source:
            for number, line in enumerate(source, 1):
                for label in LABEL.findall(line):
                    places["{" + label + "}"] = f"wrong.c:{number}"
                    places["{" + label + "-1}"] = f"wrong.c:{number - 1}"
        return places

    def launch(self, ranks, *arguments, checks):
        with tempfile.TemporaryDirectory() as home:
            # The program leaks, and the leak sanitizer would say so, too.
            options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
            environment = {**os.environ, "HOME": home, "LD_LIBRARY_PATH": f"{self.runtime}/lib", "ASAN_OPTIONS": options}
            return subprocess.run(
                [f"{self.runtime}/bin/mpirun", "--timeout", "60", "-n", str(ranks), "--mca", "mpi_check", checks,
                 self.program, *arguments],
                env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)

    def findings(self, output):
        """The lines of the library, as "rank text"."""
        return [" ".join(match.groups()) for match in map(PREFIX.match, output.splitlines()) if match]

    def test_messages(self):
        places = self.lines_of_source()
        for case, ranks, expected in CASES[self.subject]:
            with self.subTest(case=case):
                for place, line in places.items():
                    expected = [text.replace(place, line) for text in expected]
                expected = [text.replace(" ", f" {LEVEL[self.subject]}: ", 1) for text in expected]
                result = self.launch(ranks, case, checks=self.subject)
                self.assertEqual(self.findings(result.stderr), expected, result.stderr)
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_off(self):
        case, ranks, _ = CASES[self.subject][0]
        if self.subject in ("leaks", "buffers", "windows"):  # the others wait for ever, or are received as they are
            result = self.launch(ranks, case, checks="none")
            self.assertEqual((result.stderr, result.returncode), ("", 0))

    def test_default_error_handler_ends_the_job(self):
        # The exit status is the class of the error.
        classes = {"collectives": ("other_root", 8), "types": ("wrong_type", 3)}
        if self.subject in classes:
            case, error_class = classes[self.subject]
            result = self.launch(2, case, "fatal", checks=self.subject)
            self.assertEqual(result.returncode, error_class, result.stderr)
            self.assertIn("mpi_check has printed what is wrong", result.stderr)

    def test_unknown_check(self):
        result = self.launch(1, "leak_objects", checks="leaks,tipes")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("parameter mpi_check: 'tipes' is no check; there are types, collectives, buffers, leaks, windows, "
                      "threads, all and none; did you mean 'types'? [", result.stderr)


if __name__ == "__main__":
    runtime, program, Messages.source, Messages.subject = sys.argv[1:5]
    library = os.path.realpath(os.path.join(runtime, "lib/libmpi_abi.so.1"))
    Messages.runtime = os.path.dirname(os.path.dirname(library))
    Messages.program = os.path.realpath(program)
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
