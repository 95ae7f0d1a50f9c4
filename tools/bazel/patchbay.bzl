# SPDX-License-Identifier: BSD-3-Clause
"""The rules of this source tree: libraries, components, unit tests and MPI test programs."""

load(
    "//tools/bazel:mpi_test.bzl",
    _LIBRARY = "LIBRARY",
    _PREFIX = "PREFIX",
    _RUNTIME = "RUNTIME",
    _SANITIZER_DEPS = "SANITIZER_DEPS",
    _mpi_program = "mpi_program",
    _mpi_test = "mpi_test",
)
load("//tools/bazel:precompiled_header.bzl", "precompiled")

LIBRARY = _LIBRARY
PREFIX = _PREFIX
RUNTIME = _RUNTIME
PLUGIN_EXPORTS = "//tools/bazel:plugin.map"

mpi_program = _mpi_program
mpi_test = _mpi_test

def patchbay_headers(name, hdrs, deps = [], **kwargs):
    """Headers only: a component may include them without linking a copy of the code that implements them."""
    native.cc_library(
        name = name,
        hdrs = hdrs,
        deps = deps,
        linkstatic = True,
        **_public(kwargs)
    )

# Linker options of what has code of the critical path (tools/link/README.md).
FUNCTION_ORDER_INPUTS = ["//tools/link:function_order.txt"]
FUNCTION_ORDER = select({
    "//tools/bazel:sanitizer": [],
    "//conditions:default": [
        "-Wl,--symbol-ordering-file=$(location //tools/link:function_order.txt)",
        "-Wl,--no-warn-symbol-ordering",
    ],
})

def patchbay_library(name, **kwargs):
    """Ordinary code; it ends up in libmpi_abi.so.1, in a program, or in a unit test.

    The library takes all of it: a component may need a symbol that no code inside the library uses.

    Args:
      name: of the target.
      **kwargs: passed on to cc_library.
    """
    kwargs.setdefault("alwayslink", True)
    headers = precompiled(_headers_of(native.package_name()))
    native.cc_library(
        name = name,
        copts = kwargs.pop("copts", []) + headers.copts,
        linkstatic = True,
        deps = kwargs.pop("deps", []) + headers.deps,
        **_public(kwargs)
    )

def _headers_of(package):
    """Which precompiled header a library of this package uses."""
    if package.startswith("mpi/"):
        return "library"
    return "component" if package.startswith(("frameworks", "components/")) else "standard"

def _headers_of_test(threads, deps):
    """Which precompiled header a unit test uses."""
    if any([dep.startswith(("//components", "//frameworks")) for dep in deps]):
        return "component_thread_test" if threads else "component_test"
    return "thread_test" if threads else "unit_test"

def patchbay_component(framework, name, srcs, hdrs = [], deps = [], linkopts = [], **kwargs):
    """One component: `:NAME` is its code (for its unit test), `:mca_FRAMEWORK_NAME.so` the plugin.

    Args:
      framework: the framework it belongs to.
      name: the component's name in that framework.
      srcs: its sources; one of them defines `patchbay_component`.
      hdrs: its headers.
      deps: header-only targets and system libraries, besides the headers for components. The code of core and of the
        MPI objects must come from libmpi_abi.so.1 at run time; a second copy inside the plugin would have its own state.
      linkopts: more linker options.
      **kwargs: passed on to cc_library.
    """
    headers = precompiled("component")
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = kwargs.pop("copts", []) + headers.copts,
        # The headers that a component outside the tree has, and no others of Patchbay.
        deps = deps + ["//frameworks:plugin_headers"] + headers.deps,
        linkopts = linkopts,
        # In one library, or one unit test, two descriptors cannot have one name; the plugin gives it its own back.
        local_defines = kwargs.pop("local_defines", []) + ["patchbay_component=" + static_symbol(framework, name)],
        alwayslink = True,
        linkstatic = True,
        **_public(kwargs)
    )
    native.cc_binary(
        name = "mca_{}_{}.so".format(framework, name),
        additional_linker_inputs = [LIBRARY, PLUGIN_EXPORTS] + FUNCTION_ORDER_INPUTS,
        linkopts = [
            "$(location {})".format(LIBRARY),
            "-Wl,--version-script=$(location {})".format(PLUGIN_EXPORTS),
            "-Wl,--defsym=patchbay_component=" + static_symbol(framework, name),
            "-Wl,-rpath,'$$ORIGIN/..'",
            "-Wl,--enable-new-dtags",
            "-Wl,-z,defs",
            # The compiler adds libm to every C++ program.
            "-Wl,--as-needed",
        ] + FUNCTION_ORDER,
        linkshared = True,
        target_compatible_with = select({
            "//tools/bazel:static_components": ["@platforms//:incompatible"],
            "//conditions:default": [],
        }),
        visibility = ["//visibility:public"],
        deps = [":" + name],
    )

def static_symbol(framework, name):
    """The name of a component's descriptor outside its plugin."""
    return "patchbay_component_{}_{}".format(framework, name)

def component_plugins(components):
    """The labels of the plugins of (framework, name) pairs."""
    return ["//components/{0}/{1}:mca_{0}_{1}.so".format(framework, name) for framework, name in components]

def component_libraries(components):
    """The labels of the code of (framework, name) pairs."""
    return ["//components/{}/{}".format(framework, name) for framework, name in components]

def pb_test(name, srcs, deps = [], size = "small", sanitizers = ["asan"], tags = [], **kwargs):
    """A unit test with GoogleTest.

    Its own sources are not optimised, which takes two thirds of the time; those of a test of threads ("tsan") are, because
    the compiler then moves the memory accesses of inline functions as it does in the library.

    Args:
      name: of the test.
      srcs: its sources.
      deps: what it tests.
      size: Bazel's test size.
      sanitizers: under which `./dev test` runs it again: "asan" (with ubsan), "tsan".
      tags: Bazel's tags.
      **kwargs: passed on to cc_test.
    """
    threads = "tsan" in sanitizers
    headers = precompiled(_headers_of_test(threads, deps))
    native.cc_test(
        name = name,
        size = size,
        srcs = srcs,
        copts = kwargs.pop("copts", []) + ([] if threads else ["-O0"]) + headers.copts,
        tags = tags + sanitizers,
        deps = deps + ["@system//:gtest_main"] + _SANITIZER_DEPS + headers.deps,
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

def _public(kwargs):
    if "visibility" not in kwargs:
        kwargs["visibility"] = ["//visibility:public"]
    return kwargs
