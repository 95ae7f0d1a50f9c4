# SPDX-License-Identifier: BSD-3-Clause
"""Rules of the house: libraries, components, unit tests and MPI test programs."""

LIBRARY = "//:libmpi_abi.so.1"
PREFIX = "//:prefix"
PLUGIN_EXPORTS = "//tools/bazel:plugin.map"

_SANITIZER_DEPS = select({
    "//tools/bazel:sanitizer": ["//tools/bazel:leak_suppressions"],
    "//conditions:default": [],
})

def patchbay_headers(name, hdrs, deps = [], **kwargs):
    """Headers only: what a component may include without taking a copy of the code behind them."""
    native.cc_library(
        name = name,
        hdrs = hdrs,
        deps = deps,
        linkstatic = True,
        **_public(kwargs)
    )

def patchbay_library(name, **kwargs):
    """Ordinary code; it ends up in libmpi_abi.so.1, in a program, or in a unit test.

    The library takes all of it: a component may need what nothing inside the library refers to.

    Args:
      name: of the target.
      **kwargs: passed on to cc_library.
    """
    kwargs.setdefault("alwayslink", True)
    native.cc_library(
        name = name,
        linkstatic = True,
        **_public(kwargs)
    )

def patchbay_component(framework, name, srcs, hdrs = [], deps = [], linkopts = [], **kwargs):
    """One component: `:NAME` is its code (for its unit test), `:mca_FRAMEWORK_NAME.so` the plugin.

    Args:
      framework: the framework it belongs to.
      name: the component's name in that framework.
      srcs: its sources; one of them defines `patchbay_component`.
      hdrs: its headers.
      deps: header-only targets and system libraries. The code of core and of the MPI objects must come from
        libmpi_abi.so.1 at run time; a second copy inside the plugin would have its own state.
      linkopts: more linker options.
      **kwargs: passed on to cc_library.
    """
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        deps = deps,
        linkopts = linkopts,
        # In one library, or one unit test, two descriptors cannot have one name; the plugin gives it its own back.
        local_defines = kwargs.pop("local_defines", []) + ["patchbay_component=" + static_symbol(framework, name)],
        alwayslink = True,
        linkstatic = True,
        **_public(kwargs)
    )
    native.cc_binary(
        name = "mca_{}_{}.so".format(framework, name),
        additional_linker_inputs = [LIBRARY, PLUGIN_EXPORTS],
        linkopts = [
            "$(location {})".format(LIBRARY),
            "-Wl,--version-script=$(location {})".format(PLUGIN_EXPORTS),
            "-Wl,--defsym=patchbay_component=" + static_symbol(framework, name),
            "-Wl,-rpath,'$$ORIGIN/..'",
            "-Wl,--enable-new-dtags",
            "-Wl,-z,defs",
        ],
        linkshared = True,
        target_compatible_with = select({
            "//tools/bazel:static_components": ["@platforms//:incompatible"],
            "//conditions:default": [],
        }),
        visibility = ["//visibility:public"],
        deps = [":" + name],
    )

def static_symbol(framework, name):
    """The name under which a component's descriptor is known outside its plugin."""
    return "patchbay_component_{}_{}".format(framework, name)

def component_plugins(components):
    """The labels of the plugins of (framework, name) pairs."""
    return ["//components/{0}/{1}:mca_{0}_{1}.so".format(framework, name) for framework, name in components]

def component_libraries(components):
    """The labels of the code of (framework, name) pairs."""
    return ["//components/{}/{}".format(framework, name) for framework, name in components]

def pb_test(name, srcs, deps = [], size = "small", sanitizers = ["asan"], tags = [], **kwargs):
    """A unit test with GoogleTest.

    Args:
      name: of the test.
      srcs: its sources.
      deps: what it tests.
      size: Bazel's test size.
      sanitizers: under which `./dev test` runs it again: "asan" (with ubsan), "tsan".
      tags: Bazel's tags.
      **kwargs: passed on to cc_test.
    """
    native.cc_test(
        name = name,
        size = size,
        srcs = srcs,
        tags = tags + sanitizers,
        deps = deps + ["@system//:gtest_main"] + _SANITIZER_DEPS,
        **kwargs
    )

def patchbay_program(name, srcs, deps = [], linkopts = [], **kwargs):
    """A program of ours that uses the library's C++ from libmpi_abi.so.1, in bin/ beside lib/.

    Args:
      name: of the program.
      srcs: its sources.
      deps: header-only targets and system libraries.
      linkopts: more linker options.
      **kwargs: passed on to cc_binary.
    """
    native.cc_binary(
        name = name,
        srcs = srcs,
        additional_linker_inputs = [LIBRARY],
        linkopts = [
            "$(location {})".format(LIBRARY),
            "-Wl,-rpath,'$$ORIGIN/../lib'",
            "-Wl,--enable-new-dtags",
        ] + linkopts,
        deps = deps + _SANITIZER_DEPS,
        **_public(kwargs)
    )

def mpi_program(name, srcs, copts = [], deps = [], linkopts = [], **kwargs):
    """A program that uses MPI as a user's would: mpi.h and libmpi_abi.so.1, nothing of our C++."""
    native.cc_binary(
        name = name,
        srcs = srcs,
        additional_linker_inputs = [LIBRARY],
        copts = copts,
        linkopts = ["$(location {})".format(LIBRARY)] + linkopts,
        deps = deps + ["//include:mpi"] + _SANITIZER_DEPS,
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
        tags = [],
        data = [],
        copts = [],
        deps = [],
        linkopts = []):
    """An MPI program and one test per number of ranks and variant, run by the installed mpirun.

    The tests are called NAME_npN and NAME_VARIANT_npN; NAME itself is the test suite of them all.

    Args:
      name: of the suite; the program is NAME_program.
      srcs: C or C++ sources of the program. Exit status 0 means passed. A program that cannot do its work here prints
        `SKIPPED: <name>: <reason>` on a line of its own and exits with 0; it is then counted as skipped.
      np: numbers of ranks; 0 means a singleton, started without mpirun.
      args: arguments of the program.
      mca: parameters for every run (name -> value).
      variants: name -> more parameters; one set of tests per variant, for example one per component of a framework.
      env: environment of mpirun.
      mpirun_args: more options of mpirun.
      exit_status: the exit status that is wanted.
      timeout_seconds: limit of one run, given to mpirun --timeout and to timeout(1).
      size: Bazel's test size.
      sanitizers: under which `./dev test` runs it again, at one number of ranks, the first above 1, of each variant:
        "asan" (with ubsan), "tsan".
      static: at which of these numbers of ranks `./dev test` runs it again with all components linked into the library.
      tags: Bazel's tags.
      data: files the program reads.
      copts: compiler options of the program.
      deps: libraries of the program.
      linkopts: linker options of the program.
    """
    program = name + "_program"
    mpi_program(
        name = program,
        testonly = True,
        srcs = srcs,
        copts = copts,
        linkopts = linkopts,
        deps = deps,
    )
    # The sanitizers' builds take a sample.
    sample = ([ranks for ranks in np if ranks > 1] + np)[0]
    tests = []
    for variant, more in variants.items():
        parameters = dict(mca.items() + more.items())
        for ranks in np:
            test = "{}{}_np{}".format(name, "_" + variant if variant else "", ranks)
            tests.append(test)
            native.sh_test(
                name = test,
                size = size,
                srcs = ["//tools/bazel:mpi_test.sh"],
                args = [
                    "$(rootpath {})".format(PREFIX),
                    "$(rootpath :{})".format(program),
                    str(ranks),
                    str(timeout_seconds),
                    str(exit_status),
                ] + mpirun_args + _mca_arguments(parameters, ranks) + ["--"] + args,
                data = data + [":" + program, PREFIX],
                env = env,
                tags = tags + (["cpu:2"] if ranks > 1 else []) + (sanitizers if ranks == sample else []) +
                       (["static"] if ranks in static else []),
            )
    native.test_suite(
        name = name,
        tests = [":" + test for test in tests],
    )

def _mca_arguments(parameters, ranks):
    arguments = []
    for key, value in parameters.items():
        # A singleton has no command line for parameters; the script puts them into its environment.
        arguments += ["--mca", key, "'{}'".format(value)] if ranks else ["PATCHBAY_MCA_{}='{}'".format(key, value)]
    return arguments

def _public(kwargs):
    if "visibility" not in kwargs:
        kwargs["visibility"] = ["//visibility:public"]
    return kwargs
