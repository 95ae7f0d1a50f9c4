#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What an installation holds, and that its plugin headers stand alone: layout_test.sh PREFIX
. "$(dirname "$0")/common.sh"

for file in bin/mpicc bin/mpicxx bin/mpicc_abi bin/mpicxx_abi bin/mpirun bin/mpiexec bin/patchbay-info bin/patchbay-ab \
    include/mpi.h include/mpix.h lib/libmpi_abi.so lib/libmpi_abi.so.1 lib/pkgconfig/mpi_abi.pc \
    lib/pkgconfig/patchbay-mpi.pc lib/pkgconfig/patchbay-plugin.pc lib/cmake/Patchbay/PatchbayConfig.cmake \
    lib/cmake/Patchbay/PatchbayConfigVersion.cmake bin/patchbay-plugin-test share/patchbay/plugin-tests/suite.json \
    share/doc/patchbay/LICENSE; do
    [ -e "$prefix/$file" ] || fail "$file is missing"
done
for program in "$prefix"/bin/*; do
    [ -x "$program" ] || fail "$program cannot be run"
done
expect libmpi_abi.so.1 "$(readlink "$prefix/lib/libmpi_abi.so")" 'lib/libmpi_abi.so'
readelf -d "$prefix/lib/libmpi_abi.so.1" >"$work/dynamic"
grep -q 'SONAME.*\[libmpi_abi.so.1\]' "$work/dynamic" || fail 'SONAME of libmpi_abi.so.1'

# Every link of an installed page leads to a file of the installation, whatever the page is called in the source tree.
pages=0
while IFS= read -r page; do
    pages=$((pages + 1))
    for link in $(awk '/^```/ { code = !code } !code' "$page" | grep -oE '\]\([^)# ]+' | cut -c3-); do
        [[ $link == *://* ]] || [ -e "$(dirname "$page")/$link" ] || fail "${page#"$prefix/"} links to $link, which is missing"
    done
done < <(find "$prefix" -name '*.md')
[ $pages -gt 20 ] || fail "only $pages pages are installed"

# The library shows MPI and patchbay::, nothing else, so that it cannot clash with a user's symbols.
stray=$(nm -DC --defined-only "$prefix/lib/libmpi_abi.so.1" | cut -c20- | grep -Ev '^(P?MPIX?_|((vtable|typeinfo|typeinfo name) for )?patchbay::)' || true)
expect '' "$stray" 'stray symbols of libmpi_abi.so.1'

# A component has its core from the library; a copy of its own would have its own state.
for plugin in "$prefix"/lib/patchbay/*.so; do
    [ -e "$plugin" ] || break
    readelf -d "$plugin" >"$work/dynamic"
    grep -q 'NEEDED.*\[libmpi_abi.so.1\]' "$work/dynamic" || fail "$plugin does not need libmpi_abi.so.1"
    expect patchbay_component "$(nm -D --defined-only "$plugin" | cut -d' ' -f3)" "what $plugin exports"
done

# Every header that a plugin's author may include compiles, all others before it or not. There are no others.
cd "$prefix/include/patchbay"
expect 'core frameworks include object' "$(find . -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs)" 'folders of headers'
for header in core/component/framework.h frameworks/coll/selector.h object/session.h; do
    [ ! -e $header ] || fail "$header is installed, and is not for components"
done
# Each program of the plugin tests is there, with what it includes of ours.
for source in $(grep -o '"[a-z0-9]*/[a-z_0-9]*\.c[p]*"' "$prefix/share/patchbay/plugin-tests/suite.json" | tr -d '"'); do
    [ -e "$prefix/share/patchbay/plugin-tests/$source" ] || fail "suite.json names $source, which is not installed"
    for included in $(sed -n 's/^#include "\(.*\)"$/\1/p' "$prefix/share/patchbay/plugin-tests/$source"); do
        [ -e "$prefix/share/patchbay/plugin-tests/$included" ] || fail "$source includes $included, which is not installed"
    done
done
find . -name '*.h' | sed 's|^\./|#include "|;s|$|"|' | sort >"$work/forward.h"
sort -r "$work/forward.h" >"$work/backward.h"
for order in forward backward; do
    g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I. -I.. -x c++ "$work/$order.h" ||
        fail "plugin headers, included $order"
done
