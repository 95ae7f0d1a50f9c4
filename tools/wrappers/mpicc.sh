#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The compiler wrapper of Patchbay MPI. One script under many names: a name with a C++ ending compiles C++.
# It finds its installation from its own place, so the tree may be moved.
set -u

name=${0##*/}
self=$(readlink -f -- "$0") || exit 1
prefix=${self%/*/*}
case $name in
mpicxx* | mpic++* | mpiCC*)
    language=C++
    compiler=${PATCHBAY_CXX:-g++}
    ;;
*)
    language=C
    compiler=${PATCHBAY_CC:-gcc}
    ;;
esac

usage() {
    cat <<END
$name: compiles and links $language programs for Patchbay MPI @VERSION@.
All arguments go to the compiler, but for these:
  -cc=COMPILER -cxx=COMPILER    use this compiler (also: environment PATCHBAY_CC, PATCHBAY_CXX)
  -show, -showme                print the command instead of running it
  -showme:compile -showme:link  print the options for compiling, for linking
  -showme:command               print the compiler
  -showme:incdirs -showme:libdirs -showme:libs   print directories and libraries
  -showme:version               print the version
  -compile_info -link_info      print the command that compiles, that links
END
}

# Prints words so that a shell reads them back as they are.
print_quoted() {
    line=
    for word; do
        case $word in
        '' | *[!A-Za-z0-9_/.:,=+@%^-]*) word="'$(printf %s "$word" | sed "s/'/'\\\\''/g")'" ;;
        esac
        line="$line${line:+ }$word"
    done
    printf '%s\n' "$line"
}

print_compile_options() {
    print_quoted "$@" "-I$prefix/include"
}

print_link_options() {
    print_quoted "$@" "-L$prefix/lib" "-Wl,-rpath,$prefix/lib" -Wl,--enable-new-dtags -lmpi_abi
}

# An option that only prints something ends the wrapper: nothing is compiled.
for argument; do
    case $argument in
    -cc=* | -cxx=*) compiler=${argument#*=} ;;
    esac
done
for argument; do
    case $argument in
    -showme:compile | --showme:compile) print_compile_options; exit ;;
    -showme:link | --showme:link) print_link_options; exit ;;
    -showme:command | --showme:command) printf '%s\n' "$compiler"; exit ;;
    -showme:incdirs | --showme:incdirs) printf '%s\n' "$prefix/include"; exit ;;
    -showme:libdirs | --showme:libdirs) printf '%s\n' "$prefix/lib"; exit ;;
    -showme:libs | --showme:libs) printf '%s\n' mpi_abi; exit ;;
    -showme:version | --showme:version) printf '%s: Patchbay MPI %s (Language: %s)\n' "$name" @VERSION@ "$language"; exit ;;
    -showme:help | --showme:help) usage; exit ;;
    -showme:* | --showme:*)
        printf '%s: unknown question %s; try %s -showme:help\n' "$name" "$argument" "$name" >&2
        exit 1
        ;;
    # The compiler may be a command with options ("ccache gcc"): it is split into words on purpose.
    -compile_info | -compile-info)
        # shellcheck disable=SC2086
        print_compile_options $compiler
        exit
        ;;
    -link_info | -link-info)
        # shellcheck disable=SC2086
        print_link_options $compiler "-I$prefix/include"
        exit
        ;;
    esac
done

# Walk once through the arguments: drop our own, and learn whether there is an input and whether it is to be linked.
show=no
input=no
link=yes
value=no
count=$#
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    count=$((count - 1))
    if [ $value = yes ]; then
        value=no
        set -- "$@" "$argument"
        continue
    fi
    case $argument in
    -show | -showme | --showme) show=yes; continue ;;
    -cc=* | -cxx=*) continue ;;
    -c | -S | -E | -M | -MM | -fsyntax-only) link=no ;;
    -o | -x | -include | -imacros | -I | -L | -D | -U | -isystem | -iquote | -idirafter | -isysroot | -MF | -MT | -MQ | \
        -Xlinker | -Xassembler | -Xpreprocessor | -Xclang | -u | -T | -z | -e | -aux-info | -param | --param | -target | -arch)
        value=yes
        ;;
    -l* | -) input=yes ;;
    -*) ;;
    *) input=yes ;;
    esac
    set -- "$@" "$argument"
done
# `mpicc -v` or `mpicc --version` is a question to the compiler, which libraries would turn into a failing link.
# `mpicc -show` prints the whole command.
if [ $input = no ] && { [ $show = no ] || [ $# -gt 0 ]; }; then
    link=no
fi

set -- "-I$prefix/include" "$@"
if [ $link = yes ]; then
    set -- "$@" "-L$prefix/lib" "-Wl,-rpath,$prefix/lib" -Wl,--enable-new-dtags -lmpi_abi
fi
if [ $show = yes ]; then
    # shellcheck disable=SC2086
    print_quoted $compiler "$@"
    exit
fi
first_word() {
    printf %s "${1-}"
}
# shellcheck disable=SC2086
program=$(first_word $compiler)
if [ -z "$program" ] || ! command -v "$program" >/dev/null 2>&1; then
    printf "%s: there is no compiler '%s'; install it or name another in PATCHBAY_%s\n" \
        "$name" "$program" "$([ $language = C ] && echo CC || echo CXX)" >&2
    exit 127
fi
# shellcheck disable=SC2086
exec $compiler "$@"
