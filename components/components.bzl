# SPDX-License-Identifier: BSD-3-Clause
"""Every component of the tree, as (framework, name). Its folder is components/<framework>/<name>."""

COMPONENTS = [
    ("btl", "self"),
    ("btl", "sm"),
    ("cid", "consensus"),
    ("cid", "excid"),
    ("cid", "mask"),
    ("coll", "basic"),
    ("coll", "inter"),
    ("coll", "self"),
    ("pml", "ob1"),
    ("pset", "pmix"),
    ("pset", "static"),
]

# The parameters with which the tests of a framework run a component, unless TEST_VARIANTS says more. Every {} becomes the
# component's name. A framework that is not listed needs no more than the choice of the component.
TEST_PARAMETERS = {
    # It needs a component for messages of a process to itself beside it.
    "btl": {"btl": "{},self"},
    # It need not provide every collective operation for every communicator.
    "coll": {
        "coll": "{},basic,inter,self",
        "coll_{}_priority": "1000",
    },
}

# Components whose tests need more than one set of parameters, or other ones: (framework, component) -> the set that a
# test asks for -> name of the variant -> parameters. A component without a set is one variant of its own name.
TEST_VARIANTS = {
    # Serves one process only, in every test.
    ("btl", "self"): {"": {}},
    ("btl", "sm"): {"": {
        "cma": {"btl_sm_single_copy": "cma"},
        "copy": {"btl_sm_single_copy": "none"},
        # Rings so small that everything waits for room all the time.
        "tight": {
            "btl_sm_slots": "8",
            "btl_sm_bulk_size": "4KiB",
            "btl_sm_eager_limit": "512",
            "pml_ob1_unexpected_limit": "8KiB",
            "pml_ob1_fetch_chunk": "10000",
        },
    }},
    ("cid", "excid"): {
        # How members agree that have no communicator in common, where no launcher helps them.
        "agreement": {
            "auto": {
                "cid": "excid",
                "cid_excid_source": "auto",
            },
            "bootstrap": {
                "cid": "excid",
                "cid_excid_source": "bootstrap",
            },
        },
        # Where group identifiers (PGCIDs) come from. A test may use other components beside excid.
        "source": {source: {"cid_excid_source": source} for source in [
            "auto",
            "bootstrap",
            "launcher",
            "pmix",
        ]},
    },
    ("cid", "mask"): {"agreement": {
        "mask": {"cid": "mask"},
        # Letters in the bootstrap exchange that are announced and fetched, as those about thousands of scattered processes are.
        "long_messages": {
            "cid": "mask",
            "btl_sm_eager_limit": "256",
        },
    }},
    ("coll", "basic"): {"": {
        "auto": {},
        "linear": {
            "coll_basic_barrier": "linear",
            "coll_basic_allreduce": "linear",
        },
        "doubling": {
            "coll_basic_barrier": "doubling",
            "coll_basic_allreduce": "doubling",
        },
        "tree": {"coll_basic_barrier": "tree"},
        "basic_alone": {"coll": "basic"},
    }},
    # Each serves one kind of communicator only, beside coll/basic in every test.
    ("coll", "inter"): {"": {}},
    ("coll", "self"): {"": {}},
}
