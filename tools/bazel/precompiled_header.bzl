# SPDX-License-Identifier: BSD-3-Clause
"""Precompiled headers for g++: what most sources include is parsed once for each configuration."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )

    # g++ uses NAME.gch in the folder of NAME if it was made with the same options.
    header = ctx.actions.declare_file(ctx.file.header.basename)
    ctx.actions.symlink(output = header, target_file = ctx.file.header)
    compiler = cc_common.get_tool_for_action(feature_configuration = features, action_name = ACTION_NAMES.cpp_compile)
    if "clang" in compiler.split("/")[-1]:
        return _provide(ctx, [header])
    precompiled = ctx.actions.declare_file(ctx.file.header.basename + ".gch")
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        preprocessor_defines = depset(ctx.attr.defines),
        quote_include_directories = depset(["."]),
        use_pic = True,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
    )
    options = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = ACTION_NAMES.cpp_compile,
        variables = variables,
    )
    ctx.actions.run(
        outputs = [precompiled],
        inputs = depset([ctx.file.header] + ctx.files.includes, transitive = [toolchain.all_files]),
        executable = compiler,
        # -w: g++ warns of `#pragma once` in the file that it compiles, and has no option for this warning alone.
        arguments = options + ["-w", "-x", "c++-header", ctx.file.header.path, "-o", precompiled.path],
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
            variables = variables,
        ),
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % ctx.file.header.short_path,
    )
    return _provide(ctx, [header, precompiled])

def _provide(ctx, files):
    return [
        DefaultInfo(files = depset(files)),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset(files + ctx.files.includes),
        )),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "copts": attr.string_list(doc = "the sources' own options"),
        "defines": attr.string_list(doc = "those of the sources that the header's own text depends on"),
        "header": attr.label(allow_single_file = [".h"], mandatory = True),
        "includes": attr.label_list(allow_files = [".h"], doc = "headers of this tree that the header includes"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
