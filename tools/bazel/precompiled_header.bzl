# SPDX-License-Identifier: BSD-3-Clause
"""Precompiled headers for g++: what most sources include is parsed once for each configuration."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def precompiled(header):
    """What a rule with C++ sources adds so that they use a header of tools/pch.

    Parsing headers, above all those of the standard library, is most of the time of a build.
    A precompiled header holds no instances of templates: g++ makes those that inline functions of it use again for each
    source, used there or not. Functions of such a header that no hot path calls are therefore defined in a source,
    also constructors and destructors of classes with containers.

    Args:
      header: its name, without `.h`.

    Returns:
      a struct with the lists `copts` and `deps`. The other options, and the macros that the header uses, must be those of
      the header's target in tools/pch/BUILD: otherwise g++ could only read the header as text, and the build fails.
    """
    return struct(
        copts = ["-include", "$(GENDIR)/tools/pch/%s.h" % header] + select({
            "//tools/bazel:clang": [],
            # What the precompiled header has read is among the files that the source depends on.
            "//conditions:default": ["-fpch-deps", "-Winvalid-pch"],
        }),
        deps = ["//tools/pch:" + header],
    )

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
    compiler = cc_common.get_tool_for_action(feature_configuration = features, action_name = ACTION_NAMES.cpp_compile)
    if "clang" in compiler.split("/")[-1]:
        # An empty header instead, so that this build fails where a source does not include what it uses.
        ctx.actions.write(header, "")
        return [DefaultInfo(files = depset([header])), _as_headers([header], [])]
    ctx.actions.symlink(output = header, target_file = ctx.file.header)
    infos = [dep[CcInfo] for dep in ctx.attr.deps]
    context = cc_common.merge_cc_infos(cc_infos = infos).compilation_context
    precompiled = ctx.actions.declare_file(ctx.file.header.basename + ".gch")
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        preprocessor_defines = depset(ctx.attr.defines),
        quote_include_directories = depset(["."], transitive = [context.quote_includes]),
        include_directories = context.includes,
        system_include_directories = context.system_includes,
        use_pic = True,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
    )
    options = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = ACTION_NAMES.cpp_compile,
        variables = variables,
    )
    headers = ctx.actions.declare_file(ctx.file.header.basename + ".d")
    ctx.actions.run(
        outputs = [precompiled, headers],
        inputs = depset([ctx.file.header] + ctx.files.includes, transitive = [toolchain.all_files, context.headers]),
        executable = compiler,
        # -MD: the precompiled header tells which headers it has read, for -fpch-deps.
        # -w: g++ warns of `#pragma once` in the file that it compiles, and has no option for this warning alone.
        arguments = options + ["-MD", "-MF", headers.path, "-w", "-x", "c++-header", ctx.file.header.path, "-o", precompiled.path],
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
            variables = variables,
        ),
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % ctx.file.header.short_path,
    )
    files = [header, precompiled]
    return [DefaultInfo(files = depset(files)), _as_headers(files + [ctx.file.header] + ctx.files.includes, infos)]

def _as_headers(files, infos):
    """What a source that includes the header needs: these files, and what the header includes."""
    own = CcInfo(compilation_context = cc_common.create_compilation_context(headers = depset(files)))
    return cc_common.merge_cc_infos(cc_infos = [own] + infos)

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "copts": attr.string_list(doc = "the sources' own options"),
        "defines": attr.string_list(doc = "those of the sources that the header's own text depends on"),
        "deps": attr.label_list(providers = [CcInfo], doc = "headers of this tree's libraries that the header includes"),
        "header": attr.label(allow_single_file = [".h"], mandatory = True),
        "includes": attr.label_list(allow_files = [".h"], doc = "headers of its folder that the header includes"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
