# SPDX-License-Identifier: BSD-3-Clause
"""MPI test programs and the tests that run them: one Bazel test for each program and arguments, with many cases."""

load("//tools/bazel:precompiled_header.bzl", "precompiled")

LIBRARY = "//:libmpi_abi.so.1"

# The whole installation, for tests of what an installation is.
PREFIX = "//:prefix"

# What a job needs at run time, a few files instead of hundreds; the second has all components in the library.
RUNTIME = "//:runtime"
_RUNTIME_STATIC = "//:runtime_static"

SANITIZER_DEPS = select({
    "//tools/bazel:sanitizer": ["//tools/bazel:leak_suppressions"],
    "//conditions:default": [],
})

# tests/check runs programs of other folders.
_TESTS = ["//tests:__subpackages__"]

def mpi_program(name, srcs, copts = [], deps = [], linkopts = [], **kwargs):
    """A program that uses MPI as a user's would: mpi.h and libmpi_abi.so.1, and none of the C++ of Patchbay MPI."""
    if not copts and all([source.endswith((".cpp", ".h")) for source in srcs]):
        headers = precompiled("standard")
    else:
        headers = struct(copts = [], deps = [])
    native.cc_binary(
        name = name,
        srcs = srcs,
        additional_linker_inputs = [LIBRARY],
        copts = copts + headers.copts,
        linkopts = ["$(location {})".format(LIBRARY)] + linkopts,
        deps = deps + ["//include:mpi"] + SANITIZER_DEPS + headers.deps,
        **kwargs
    )

def mpi_test(
        name,
        srcs,
        np = [1, 2, 4],
        args = [],
        mca = {},
        variants = {"": {}},
        env = {},
        mpirun_args = [],
        exit_status = 0,
        timeout_seconds = 60,
        size = "small",
        sanitizers = ["asan"],
        static = [],
        timing = False,
        tags = [],
        data = [],
        copts = [],
        deps = [],
        linkopts = []):
    """An MPI program and one test that runs it in many cases: each variant at each number of ranks.

    A case is called VARIANT_npN, or npN without variants, and static_... with all components linked into the library.
    `./dev test` runs a sample of the cases in which each variant and each number of ranks occurs, `./dev test --full`
    runs all (tools/bazel/case_selection.py).

    Args:
      name: of the test; the program is NAME_program. Tests of one folder whose programs have the same sources and options
        share one program.
      srcs: C or C++ sources of the program. Exit status 0 means passed. A program that cannot do its work here prints
        `SKIPPED: <name>: <reason>` on a line of its own and exits with 0; the case is then counted as skipped.
      np: numbers of ranks; 0 means a singleton, started without mpirun.
      args: arguments of the program.
      mca: parameters for every case (name -> value).
      variants: name -> more parameters, for example component_variants("cid").
      env: environment of mpirun.
      mpirun_args: more options of mpirun.
      exit_status: the expected exit status.
      timeout_seconds: limit of one case, given to mpirun --timeout; ten seconds later the case is killed. Six times as
        much with a sanitizer.
      size: Bazel's test size, which here only states how much memory the test may need.
      sanitizers: under which it runs again: "asan" (with ubsan), "tsan". `./dev test` takes one variant, another one with
        each commit, at the first number of ranks above 1.
      static: the numbers of ranks at which `./dev test`, too, runs it with all components linked into the library.
      timing: whether the test measures time, and therefore runs while no other test does.
      tags: Bazel's tags.
      data: files the program reads.
      copts: compiler options of the program.
      deps: libraries of the program.
      linkopts: linker options of the program.
    """
    program = name + "_program"
    _shared_program(program, srcs, copts, linkopts, deps)
    _cases(
        name = name + "_cases",
        testonly = True,
        program = ":" + program,
        data = data,
        content = json.encode({
            "args": args,
            "env": env,
            "exit_status": exit_status,
            "label": "//{}:{}".format(native.package_name(), name),
            "mca": mca,
            "mpirun_args": mpirun_args,
            "np": np,
            "static": static,
            "timeout": timeout_seconds,
            "variants": variants,
        }),
    )
    native.sh_test(
        name = name,
        size = size,
        # The test limits each of its cases itself.
        timeout = "eternal",
        srcs = ["//tools/bazel:mpi_test.py"],
        args = ["$(rootpath :{}_cases)".format(name)],
        data = data + [
            ":{}_cases".format(name),
            "//tools/bazel:test_support",
        ],
        tags = tags + sanitizers + (["cpu:4"] if timing else []),
    )

def _shared_program(name, srcs, copts, linkopts, deps):
    """One program for all tests of the folder with the same sources and options; the other tests get an alias of it."""
    key = "program={}".format(repr((srcs, copts, linkopts, deps)))
    for rule in native.existing_rules().values():
        if key in rule.get("tags", []):
            native.alias(name = name, testonly = True, actual = ":" + rule["name"], visibility = _TESTS)
            return
    mpi_program(
        name = name,
        testonly = True,
        srcs = srcs,
        copts = copts,
        linkopts = linkopts,
        tags = [key],
        visibility = _TESTS,
        deps = deps,
    )

def _cases_impl(ctx):
    content = json.decode(ctx.expand_location(ctx.attr.content, ctx.attr.data))
    content.update({
        "program": ctx.executable.program.short_path,
        "runtime": ctx.file._runtime.short_path,
        "runtime_static": ctx.file._runtime_static.short_path,
    })
    out = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(out, json.encode(content) + "\n")
    runfiles = ctx.runfiles(files = [out, ctx.executable.program, ctx.file._runtime, ctx.file._runtime_static])
    return [DefaultInfo(files = depset([out]), runfiles = runfiles)]

_cases = rule(
    implementation = _cases_impl,
    doc = "The list of the cases for mpi_test.py, and all files that these need.",
    attrs = {
        "content": attr.string(doc = "JSON without the paths of files"),
        "data": attr.label_list(allow_files = True),
        "program": attr.label(executable = True, cfg = "target"),
        "_runtime": attr.label(default = RUNTIME, allow_single_file = True),
        "_runtime_static": attr.label(default = _RUNTIME_STATIC, allow_single_file = True),
    },
)
