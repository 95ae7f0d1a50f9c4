#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the template and the example without the source tree, with pkg-config and g++ and nothing else, and runs a program
# with them: outside_test.sh PREFIX PROGRAM_SOURCE INTERFACE_HASH.PY
. "$(dirname "$0")/../install/common.sh"
cp -L "$2" "$work/barrier.c"
interface_hash=$(realpath "$3")
cd "$work"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
kit=$prefix/share/patchbay/plugins

"$prefix/bin/mpicc" -O1 -Wall -Werror barrier.c -o barrier

# compile SOURCE FILE [COMPILER OPTION]...
compile() {
    # shellcheck disable=SC2046
    g++ -O2 -Wall -Wextra -Werror "${@:3}" $(pkg-config --cflags patchbay-plugin) "$1" -o "$2" \
        $(pkg-config --libs patchbay-plugin)
}

# build SOURCE FILE [COMPILER OPTION]...
build() {
    compile "$@"
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
[ "$lines" -lt 110 ] || fail "the example has $lines lines"

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
# A tool reads its performance variable by MPI_T: 10 barriers of 4 ranks have 2 rounds each with one way.
cat >rounds.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int provided, index = -1, count, rank;
    unsigned long long before = 0, after = 0;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_index("coll_nway_rounds", MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_read(session, handle, &before);
    for (int i = 0; i < 10; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_T_pvar_read(session, handle, &after);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d: %llu rounds\n", rank, after - before);
    MPI_Finalize();
    return MPI_T_finalize();
}
END
"$prefix/bin/mpicc" -O1 -Wall -Werror rounds.c -o rounds
status=0
timeout 90 "$prefix/bin/mpirun" --timeout 60 -n 4 --mca component_path "$work/mine" --mca coll nway,basic,self \
    --mca coll_nway_ways 1 ./rounds >out 2>err || status=$?
expect 0 $status "a tool ($(cat err))"
expect 4 "$(grep -c ': 20 rounds$' out)" "the variable of nway ($(cat out))"
"$prefix/bin/patchbay-info" --mca component_path "$work/mine" --pvars >out
grep -Eq '^coll_nway_rounds +counter +none +always' out || fail "patchbay-info does not list the variable: $(cat out)"

run 2 --mca component_path "$work/mine" --mca coll_nway_ways 17
grep -q "coll_nway_ways (int): '17' is not in the range 1..16" err || fail "a parameter out of range is not reported: $(cat err)"

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

# refused PATTERN: the component in other/ is left out with one line that says that; the job goes on without it.
refused() {
    run 3 --mca component_path "$work/other"
    expect "0 $good" "$status $(cat out)" "with an incompatible about ($(cat err))"
    expect 1 "$(wc -l <err)" "lines about the incompatible ($(cat err))"
    grep -Eq "$1" err || fail "no '$1': $(cat err)"
    run 3 --mca component_path "$work/other" --mca coll nway,basic,self
    [ $status -ne 0 ] || fail "an incompatible that was asked for by name was left out in silence"
}

# A component that was built with the headers of another release, one class of which has one field more. The build of that
# release makes the header with the hash; here its program does.
hash_of() {
    (cd "$1" && find core frameworks object -name '*.h' -print0 | xargs -0 python3 "$interface_hash" "$2")
}
hash_in() { sed -n 's/.*interface_hash\[\] = "\(.*\)";/\1/p' "$1"; }
mkdir other_release
cp -R "$prefix/include" other_release/
chmod -R u+w other_release
headers=other_release/include/patchbay
ours=$(hash_in "$headers/core/component/interface_hash.h")
[ ${#ours} -eq 16 ] || fail "the installed headers have no hash: $(cat "$headers/core/component/interface_hash.h")"
expect "$ours" "$(hash_of "$headers" 0 | hash_in /dev/stdin)" 'the hash of the installed headers'
sed -i 's|^    int remote_size = 0;.*|&\n    int one_field_more = 0;|' "$headers/object/communicator.h"
grep -q one_field_more "$headers/object/communicator.h" || fail 'object/communicator.h has no field remote_size any more'
hash_of "$headers" 7.8.9 >new_hash.h
mv new_hash.h "$headers/core/component/interface_hash.h"
theirs=$(hash_in "$headers/core/component/interface_hash.h")
[ "$ours" != "$theirs" ] || fail 'one field more does not change the hash'
build sources/examples/coll_nway.cpp other/mca_coll_nway.so -I"$headers" -I"$headers/.."
release=$(pkg-config --modversion patchbay-plugin)
refused "nway.so cannot be used: .*headers: $theirs of Patchbay MPI 7.8.9, .* has $ours of Patchbay MPI $release; build it again"
expect "$ours" "$("$prefix/bin/patchbay-info" | sed -n 's/^headers for components  *//p')" 'patchbay-info: the hash'

# The same headers with another mode of the C++ library.
build sources/examples/coll_nway.cpp other/mca_coll_nway.so -D_GLIBCXX_DEBUG
refused 'nway.so cannot be used: it was built for toolchain [^ ]*;_GLIBCXX_DEBUG;'
for option in -fshort-enums -fpack-struct; do
    ! compile sources/examples/coll_nway.cpp other/none.so $option 2>messages || fail "$option compiles"
    grep -q "build without $option" messages || fail "$option is not named: $(cat messages)"
done

# The output of patchbay-info for a compatible component.
"$prefix/bin/patchbay-info" --mca component_path "$work/mine" --mca coll_nway_ways 5 --param coll nway >info
grep -Eq '^coll_nway_ways +int +5 +3 +command line' info || fail "patchbay-info --param coll nway: $(cat info)"
