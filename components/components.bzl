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
