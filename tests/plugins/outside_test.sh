#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the template and the example without the source tree, with pkg-config and g++ and nothing else, and runs a program
# with them: outside_test.sh PREFIX PROGRAM_SOURCE
. "$(dirname "$0")/../install/common.sh"
cp -L "$2" "$work/barrier.c"
cd "$work"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
kit=$prefix/share/patchbay/plugins

"$prefix/bin/mpicc" -O1 -Wall -Werror barrier.c -o barrier

# build SOURCE FILE
build() {
    # shellcheck disable=SC2046
    g++ -O2 -Wall -Wextra -Werror $(pkg-config --cflags patchbay-plugin) "$1" -o "$2" \
        $(pkg-config --libs patchbay-plugin)
    expect patchbay_component "$(nm -D --defined-only "$2" | cut -d' ' -f3)" "what $2 exports"
}

# run RANKS OPTION...: stdout in `out`, stderr in `err`, exit status in `status`
run() {
    local ranks=$1
    shift
    status=0
    timeout 90 "$prefix/bin/mpirun" --timeout 60 -n "$ranks" "$@" ./barrier >out 2>err || status=$?
}

# chosen COMPONENT: checks that the decision table names it for MPI_COMM_WORLD
chosen() {
    grep -Eq "^coll .*MPI_COMM_WORLD.* $1 +chosen" err || fail "$1 was not chosen: $(cat err)"
}

good='0 of 20 barriers let a rank leave early'
mkdir mine sources
cp -R "$kit/template" "$kit/examples" sources/
chmod -R u+w sources
make -C sources/template >make.log 2>&1 || fail "the template's Makefile: $(cat make.log)"
cp sources/template/mca_coll_mycoll.so mine/
expect patchbay_component "$(nm -D --defined-only mine/mca_coll_mycoll.so | cut -d' ' -f3)" 'what the template exports'
build sources/examples/coll_nway.cpp mine/mca_coll_nway.so
lines=$(wc -l <sources/examples/coll_nway.cpp)
[ "$lines" -lt 80 ] || fail "the example has $lines lines"

# Selected by parameter from a directory that a parameter names.
for component in mycoll nway; do
    for ranks in 1 2 3 6; do
        run $ranks --explain --mca component_path "$work/mine" --mca coll "$component,basic,self"
        expect 0 $status "exit status of $component with $ranks ranks ($(cat err))"
        expect "$good" "$(cat out)" "$component with $ranks ranks"
        if [ $ranks -gt 1 ]; then
            chosen $component
        else
            chosen self
        fi
    done
done
for ways in 1 2 16; do
    run 5 --mca component_path "$work/mine" --mca coll nway,basic,self --mca coll_nway_ways $ways
    expect "0 $good" "$status $(cat out)" "nway with $ways ways ($(cat err))"
done
run 2 --mca component_path "$work/mine" --mca coll_nway_ways 17
grep -q 'coll_nway_ways must be 1 to 16' err || fail "a parameter out of range is not reported: $(cat err)"

# Excluded by parameter; not found without the parameter that names its directory.
run 2 --explain --mca component_path "$work/mine" --mca coll ^nway,mycoll
chosen basic
grep -Eq '^coll .* nway +excluded .*left out by coll=\^nway,mycoll' err || fail "nway is not excluded: $(cat err)"
run 2 --mca coll nway,basic,self
[ $status -ne 0 ] || fail 'nway was found without the parameter that names its directory'
grep -q "framework coll has no component 'nway'" err || fail "the missing component is not named: $(cat err)"

# The user's own directory needs no parameter.
make -C sources/template install >make.log 2>&1 || fail "make install: $(cat make.log)"
[ -e "$HOME/.patchbay/components/mca_coll_mycoll.so" ] || fail 'make install put it elsewhere'
run 3 --explain
expect "0 $good" "$status $(cat out)" "the installed template ($(cat err))"
chosen mycoll
rm -r "$HOME/.patchbay"

# A component for another version of the framework, or of the core, is refused with one line, before it runs.
mkdir other
sed 's/coll::interface_version,/coll::interface_version + 1,/' sources/examples/coll_nway.cpp >other.cpp
build other.cpp other/mca_coll_nway.so
run 3 --mca component_path "$work/other"
expect "0 $good" "$status $(cat out)" "with an incompatible about ($(cat err))"
expect 1 "$(wc -l <err)" "lines about the incompatible ($(cat err))"
grep -Eq "$work/other/mca_coll_nway.so cannot be used: .*framework coll version [0-9]+, this library has [0-9]+" err ||
    fail "the incompatible is not explained: $(cat err)"
run 3 --mca component_path "$work/other" --mca coll nway,basic,self
[ $status -ne 0 ] || fail 'an incompatible that was asked for by name was left out in silence'
"$prefix/bin/patchbay-info" --mca component_path "$work/other" >info
grep -Eq '^coll +nway +- +incompatible ' info || fail "patchbay-info does not show the incompatible: $(cat info)"

# The output of patchbay-info for a compatible component.
"$prefix/bin/patchbay-info" --mca component_path "$work/mine" --mca coll_nway_ways 5 --param coll nway >info
grep -Eq '^coll_nway_ways +int +5 +3 +command line' info || fail "patchbay-info --param coll nway: $(cat info)"
