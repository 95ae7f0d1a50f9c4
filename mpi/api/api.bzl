# SPDX-License-Identifier: BSD-3-Clause
"""Builds a library that exports every function of the standard from sources that define PMPI_ functions."""

load("//tools/bazel:precompiled_header.bzl", "precompiled")

_GENERATOR = "//tools/api:generate_bindings.py"
_HEADERS = [
    "//include:mpi.h",
    "//include:mpix.h",
]

def _generate(name, out, what, sources, **kwargs):
    native.genrule(
        name = name,
        srcs = sources + _HEADERS,
        outs = [out],
        cmd = " ".join(
            ["python3 $(execpath {}) {}".format(_GENERATOR, what)] +
            ["--header $(execpath {})".format(header) for header in _HEADERS] +
            ["--source $(execpath {})".format(source) for source in sources] +
            ["> $@"],
        ),
        tools = [_GENERATOR],
        **kwargs
    )

def mpi_bindings(name, srcs, deps, **kwargs):
    """The library of all MPI_ and PMPI_ functions.

    Args:
      name: of the library. `NAME_unimplemented_calls.cpp` is a source for tests that calls every stub.
      srcs: the sources with the definitions, one per chapter of the standard.
      deps: what they need.
      **kwargs: passed on to cc_library.
    """
    generated = []
    for source in srcs:
        out = "generated/" + source.replace(".cpp", "_bindings.cpp")
        _generate(name + "_" + source, out, "wrap", [source])
        generated.append(out)
    _generate(name + "_unimplemented", "generated/unimplemented.cpp", "unimplemented", srcs)
    _generate(
        name + "_unimplemented_calls",
        "generated/unimplemented_calls.cpp",
        "calls",
        srcs,
        visibility = ["//tests/abi:__pkg__"],
    )
    headers = precompiled("library")
    native.cc_library(
        name = name,
        srcs = generated + ["generated/unimplemented.cpp"],
        copts = headers.copts,
        textual_hdrs = srcs,
        deps = deps + headers.deps,
        # Nothing inside the library calls most of these functions; they must be there all the same.
        alwayslink = True,
        linkstatic = True,
        **kwargs
    )
