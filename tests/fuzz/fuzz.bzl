# SPDX-License-Identifier: BSD-3-Clause
"""A fuzz target: a function that takes any bytes, a test of its corpus, and a program that searches for inputs."""

load("//tools/bazel:patchbay.bzl", "patchbay_library")

def fuzz_target(name, srcs, deps = [], **kwargs):
    """NAME is a test over the inputs of corpus/NAME and others like them, with the ordinary compiler; NAME_fuzzer needs --config=fuzz.

    Args:
      name: of the target and of its folder of inputs.
      srcs: one of them defines LLVMFuzzerTestOneInput.
      deps: what it tests.
      **kwargs: passed on to the test.
    """
    inputs = native.glob(["corpus/{}/*".format(name)])
    patchbay_library(
        name = name + "_target",
        testonly = True,
        srcs = srcs,
        deps = deps + ["//tests/fuzz:bytes"],
    )
    native.cc_test(
        name = name,
        size = "small",
        srcs = [
            "corpus_main.cpp",
            "mutation.h",
        ],
        args = ["$(rootpath {})".format(input) for input in inputs],
        data = inputs,
        tags = ["asan"],
        deps = [":{}_target".format(name)],
        **kwargs
    )
    native.cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = [":{}_target".format(name)],
    )
