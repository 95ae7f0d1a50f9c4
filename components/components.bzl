# SPDX-License-Identifier: BSD-3-Clause
"""Every component of the tree, as (framework, name). Its folder is components/<framework>/<name>."""

COMPONENTS = [
    ("btl", "self"),
    ("btl", "sm"),
    ("btl", "socket"),
    ("chan", "emulated"),
    ("chan", "rdma"),
    ("chan", "sm"),
    ("cid", "consensus"),
    ("cid", "excid"),
    ("cid", "mask"),
    ("coll", "basic"),
    ("coll", "inter"),
    ("coll", "self"),
    ("coll", "sm"),
    ("coll", "threads"),
    ("coll", "tuned"),
    ("osc", "pt2pt"),
    ("osc", "rdma"),
    ("osc", "sm"),
    ("pml", "ob1"),
    ("pset", "pmix"),
    ("pset", "static"),
]

# Those that are part of libmpi_abi.so.1 in the default build, too, and not files of their own: every process opens them,
# and no other component does what they do. A file costs each process some 60 us in MPI_Init. With --config=static, all.
LINKED_IN = [
    ("btl", "self"),
    ("coll", "basic"),
    ("coll", "inter"),
    ("coll", "self"),
    ("coll", "threads"),
]

# The parameters with which the tests of a framework run a component, unless TEST_VARIANTS has an entry. Every {} is
# replaced by the component's name. The tests of a framework that is not listed only choose the component.
TEST_PARAMETERS = {
    # A btl needs btl/self beside it for messages of a process to itself.
    "btl": {"btl": "{},self"},
    # coll/basic provides the collective operations that the component does not have.
    "coll": {
        "coll": "{},basic,inter,self",
        "coll_{}_priority": "1000",
    },
    # osc/pt2pt serves the windows that the component does not serve.
    "osc": {"osc": "{},pt2pt"},
}

# Components whose tests need more than one set of parameters, or other ones: (framework, component) -> the set that a
# test chooses -> name of the variant -> parameters. A component without that set is one variant with its own name.
TEST_VARIANTS = {
    # It handles messages of a process to itself only, in every test.
    ("btl", "self"): {"": {}},
    ("btl", "sm"): {"": {
        "cma": {"btl_sm_single_copy": "cma"},
        "copy": {
            "btl_sm_single_copy": "none",
            "btl_sm_stores": "uncached",
        },
        # No rings: all packets go through receive queues, with little memory for them.
        "queue": {
            "btl_sm_rings": "0",
            "btl_sm_queue_size": "64KiB",
            "btl_sm_single_copy": "none",
        },
        # Pairs change between queue and ring all the time.
        "switching": {
            "btl_sm_rings": "1",
            "btl_sm_ring_after": "1",
        },
        # Rings so small that senders wait for a free slot all the time.
        "tight": {
            "btl_sm_slots": "8",
            "btl_sm_bulk_size": "4KiB",
            "btl_sm_eager_limit": "512",
            "pml_ob1_unexpected_limit": "8KiB",
            "pml_ob1_fetch_chunk": "10000",
        },
    }},
    # Which way the messages of a channel go.
    ("chan", "sm"): {"ways": {
        "sm": {"chan": "sm"},
        "sm_cma": {
            "chan": "sm",
            "chan_sm_single_copy": "cma",
            "chan_sm_copy_from": "1KiB",
        },
        # Rings so small that senders wait for a chunk all the time, and no copies by the kernel.
        "sm_tight": {
            "chan": "sm",
            "chan_sm_ring_size": "4KiB",
            "chan_sm_chunk": "1KiB",
            "chan_sm_single_copy": "none",
            "chan_sm_stores": "uncached",
        },
    }},
    ("cid", "excid"): {
        # The forms of the bootstrap exchange that need no launcher.
        "bootstrap": {
            "auto": {
                "cid": "excid",
                "cid_excid_source": "auto",
            },
            "bootstrap": {
                "cid": "excid",
                "cid_excid_source": "bootstrap",
            },
        },
        # The sources of PGCIDs. A test may use other components beside excid.
        "source": {source: {"cid_excid_source": source} for source in [
            "auto",
            "bootstrap",
            "launcher",
            "pmix",
        ]},
    },
    ("cid", "mask"): {"bootstrap": {
        "mask": {"cid": "mask"},
        # Bootstrap messages over the eager limit, as groups of thousands of irregular ranks need them.
        "long_messages": {
            "cid": "mask",
            "btl_sm_eager_limit": "256",
        },
    }},
    # Without the components that serve most calls instead of it.
    ("coll", "basic"): {"": {
        "auto": {"coll": "^sm,tuned"},
        "linear": {
            "coll": "^sm,tuned",
            "coll_basic_barrier": "linear",
            "coll_basic_allreduce": "linear",
        },
        "doubling": {
            "coll": "^sm,tuned",
            "coll_basic_barrier": "doubling",
            "coll_basic_allreduce": "doubling",
        },
        "tree": {
            "coll": "^sm,tuned",
            "coll_basic_barrier": "tree",
        },
        "basic_alone": {"coll": "basic"},
    }},
    # Each handles one kind of communicator only, beside coll/basic in every test.
    ("coll", "inter"): {"": {}},
    ("coll", "self"): {"": {}},
    ("coll", "threads"): {"": {}},
    # From the first call on, and from the fourth call on.
    ("coll", "sm"): {"": {
        "sm": {
            "coll_sm_longest_mutual_own_cores": "1KiB",
            "coll_sm_where": "always",
            "coll_sm_after": "0",
        },
        "sm_later": {
            "coll_sm_longest_mutual_own_cores": "1KiB",
            "coll_sm_where": "always",
            "coll_sm_after": "3",
        },
    }},
    # Every algorithm of every function, beside the choice by the decision table.
    ("coll", "tuned"): {"": {
        "tuned": {"coll": "^sm"},
        "tuned_linear": dict([("coll_tuned_" + function, "linear") for function in [
            "allgather",
            "allreduce",
            "alltoall",
            "bcast",
            "gather",
            "exscan",
            "reduce",
            "scan",
            "scatter",
        ]] + [("coll", "^sm")]),
        "tuned_direct": {
            "coll": "^sm",
            "coll_tuned_allgather": "direct",
            "coll_tuned_allreduce": "direct",
            "coll_tuned_alltoall": "direct",
            "coll_tuned_bcast": "chain",
            "coll_tuned_exscan": "chain",
            "coll_tuned_gather": "binomial",
            "coll_tuned_reduce": "binomial",
            "coll_tuned_scan": "chain",
            "coll_tuned_scatter": "binomial",
            "coll_tuned_segment": "1005",
        },
        "tuned_doubling": {
            "coll": "^sm",
            "coll_tuned_allgather": "doubling",
            "coll_tuned_allreduce": "doubling",
            "coll_tuned_alltoall": "bruck",
            "coll_tuned_bcast": "scatter_allgather",
            "coll_tuned_reduce": "halves",
        },
        "tuned_halves": {
            "coll": "^sm",
            "coll_tuned_allgather": "neighbour",
            "coll_tuned_allreduce": "halves",
            "coll_tuned_alltoall": "pairwise",
            "coll_tuned_bcast": "binomial",
            "coll_tuned_exscan": "pass",
            "coll_tuned_reduce": "halves",
            "coll_tuned_scan": "pass",
            "coll_tuned_segment": "4004",
        },
        "tuned_ring": {
            "coll": "^sm",
            "coll_tuned_allgather": "ring",
            "coll_tuned_allreduce": "ring",
            "coll_tuned_reduce": "binomial",
            "coll_tuned_segment": "4004",
        },
        "tuned_segments": {
            "coll": "^sm",
            "coll_tuned_allreduce": "doubling",
            "coll_tuned_segment": "4004",
        },
        "tuned_radix": {
            "coll": "^sm",
            "coll_tuned_allgather": "bruck",
            "coll_tuned_allreduce": "doubling",
            "coll_tuned_alltoall": "bruck",
            "coll_tuned_radix": "4",
        },
    }},
    ("osc", "pt2pt"): {"": {
        "pt2pt": {"osc": "pt2pt"},
        "pt2pt_thread": {
            "osc": "pt2pt",
            "osc_pt2pt_progress": "thread",
        },
        # Everything in messages of its own, and origins that wait for credits.
        "pt2pt_tight": {
            "osc": "pt2pt",
            "osc_pt2pt_inline": "256",
            "osc_pt2pt_credits": "8",
        },
    }},
}
