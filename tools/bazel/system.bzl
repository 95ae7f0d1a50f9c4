# SPDX-License-Identifier: BSD-3-Clause
"""Finds the distribution's libraries with pkg-config and offers them as @system//:NAME."""

# target -> (pkg-config name, Debian package)
_PKG_CONFIG = {
    "pmix": ("pmix", "libpmix-dev"),
    "hwloc": ("hwloc", "libhwloc-dev"),
    "fmt": ("fmt", "libfmt-dev"),
    "gtest": ("gtest", "libgtest-dev"),
    "gtest_main": ("gtest_main", "libgtest-dev"),
}

# Libraries that bring no pkg-config file: target -> (a header that must be there, Debian package, defines, libraries)
_PLAIN = {
    # BOOST_DLL_USE_STD_FS: std::filesystem instead of Boost's, so that nothing but the headers is needed.
    "boost_dll": ("boost/dll/shared_library.hpp", "libboost-dev", ["BOOST_DLL_USE_STD_FS"], ["-ldl"]),
    "boost_program_options": (
        "boost/program_options.hpp",
        "libboost-program-options-dev",
        [],
        ["-lboost_program_options"],
    ),
    "json": ("nlohmann/json.hpp", "nlohmann-json3-dev", [], []),
    "rt": ("mqueue.h", "libc6-dev", [], ["-lrt"]),
    "pthread": ("pthread.h", "libc6-dev", [], ["-lpthread"]),
    "dl": ("dlfcn.h", "libc6-dev", [], ["-ldl"]),
    # A part of g++, without a header in /usr/include: the lines of a program's debug information.
    "backtrace": ("dlfcn.h", "g++", [], ["-l:libbacktrace.a"]),
}

_TARGET = """
cc_library(
    name = "{name}",
    hdrs = {hdrs},
    includes = {includes},
    defines = {defines},
    linkopts = {linkopts},
)
"""

def _ask(ctx, tool, package, debian, option):
    result = ctx.execute([tool, option, package])
    if result.return_code != 0:
        fail("pkg-config does not find '{}': {}Install it with: apt-get install {} (or run ./dev doctor)".format(
            package,
            result.stderr,
            debian,
        ))
    return [word for word in result.stdout.replace("\n", " ").split(" ") if word]

def _pkg_config_target(ctx, tool, name, package, debian):
    includes = []
    defines = []
    for flag in _ask(ctx, tool, package, debian, "--cflags"):
        if flag.startswith("-I"):
            # Bazel refuses headers outside the compiler's own directories, so the repository holds a link to each.
            link = "include/{}/{}".format(name, len(includes))
            ctx.symlink(flag[2:], link)
            includes.append(link)
        elif flag.startswith("-D"):
            defines.append(flag[2:])
    return _TARGET.format(
        name = name,
        hdrs = "glob([{}])".format(", ".join(["'{}/**/*.h'".format(link) for link in includes])) if includes else "[]",
        includes = includes,
        defines = defines,
        linkopts = ["-Wl,--as-needed"] + _ask(ctx, tool, package, debian, "--libs"),
    )

def _plain_target(ctx, name, header, debian, defines, libraries):
    if not ctx.path("/usr/include/" + header).exists:
        fail("/usr/include/{} is missing. Install it with: apt-get install {}".format(header, debian))
    return _TARGET.format(
        name = name,
        hdrs = [],
        includes = [],
        defines = defines,
        linkopts = ["-Wl,--as-needed"] + libraries if libraries else [],
    )

def _system_libraries_impl(ctx):
    tool = ctx.which("pkg-config")
    if tool == None:
        fail("pkg-config is missing. Install it with: apt-get install pkg-config")
    build = "package(default_visibility = ['//visibility:public'])\n"
    for name, (package, debian) in _PKG_CONFIG.items():
        build += _pkg_config_target(ctx, tool, name, package, debian)
    for name, (header, debian, defines, libraries) in _PLAIN.items():
        build += _plain_target(ctx, name, header, debian, defines, libraries)
    ctx.file("BUILD", build)

system_libraries = repository_rule(
    implementation = _system_libraries_impl,
    configure = True,
    environ = ["PKG_CONFIG_PATH"],
    local = True,
)
