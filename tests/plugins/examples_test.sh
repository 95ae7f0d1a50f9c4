#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds each example from a copy, against an installation, with pkg-config, two of them with CMake, too, and runs it:
# examples_test.sh PREFIX ALLREDUCE.C BARRIER.C MESSAGES.C COLL_WATCH.CPP CHANNEL.H CHANNEL.CPP COMPONENT.CPP, of which the
# last three are the sources of chan/emulated.
. "$(dirname "$0")/../install/common.sh"
cp -L "${@:2}" "$work/"
cd "$work"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
kit=$prefix/share/patchbay/plugins/examples
mpicc=$prefix/bin/mpicc
plugin_test=$prefix/bin/patchbay-plugin-test
for program in allreduce barrier messages; do
    "$mpicc" -O1 -Wall -Werror $program.c -o $program
done
cp -R "$kit" sources
chmod -R u+w sources
mkdir mine

# build SOURCE FILE [OPTION]
build() {
    # shellcheck disable=SC2046
    g++ "${3--O2}" -Wall -Wextra -Werror $(pkg-config --cflags patchbay-plugin) "$1" -o "$2" \
        $(pkg-config --libs patchbay-plugin)
    expect patchbay_component "$(nm -D --defined-only "$2" | cut -d' ' -f3)" "what $2 exports"
}

# run RANKS OPTION... PROGRAM: stdout in `out`, stderr in `err`, exit status in `status`
run() {
    local ranks=$1
    shift
    status=0
    timeout 90 "$prefix/bin/mpirun" --timeout 60 -n "$ranks" --mca component_path "$work/mine" "$@" >out 2>err || status=$?
}
good='0 of 20 barriers let a rank leave early'

for source in sources/*.cpp coll_watch.cpp; do
    name=$(basename "$source" .cpp)
    lines=$(wc -l <"$source")
    [ "$lines" -lt 120 ] || fail "$source has $lines lines"
    build "$source" "mine/mca_$name.so"
done

# cid: it names the communicators of the program, and the tests of its framework pass.
run 4 --explain --mca cid random ./barrier
expect "0 $good" "$status $(cat out)" "cid/random ($(cat err))"
"$plugin_test" --programs constructors --programs from_groups -n 3 mine/mca_cid_random.so >suite ||
    fail "patchbay-plugin-test: $(cat suite)"
expect 'cid/random: 2 passed, 0 failed' "$(tail -n 1 suite)" 'cid/random'

# btl: both btls are wrapped; each packet takes as long as the parameter says.
run 2 --explain --mca btl_wrap count ./messages
expect 0 $status "btl/count ($(cat err))"
grep -Eq '^btl .* count +wraps +- +stands before sm' err || fail "btl/count does not wrap sm: $(cat err)"
grep -Eq '^btl .* count +wraps +- +stands before self' err || fail "btl/count does not wrap self: $(cat err)"
grep -Eq '^btl .* sm +chosen' err || fail "sm is not chosen: $(cat err)"
# Rank 1 sends two messages of 1,000 bytes, and what the library sends.
sent=$(sed -n 's/^\[.*:1\] .*btl\/count: sm sent \([0-9]*\) packets with \([0-9]*\) bytes.*/\1 \2/p' err)
[ "${sent% *}" -ge 2 ] && [ "${sent#* }" -ge 2000 ] || fail "btl/count counted '$sent' at rank 1: $(cat err)"
begin=$(date +%s%N)
run 2 --mca btl_wrap count --mca btl_count_delay 30ms ./messages
took=$((($(date +%s%N) - begin) / 1000000))
packets=$(sed -n 's/^\[.*:1\] .*btl\/count: sm sent \([0-9]*\) packets.*/\1/p' err)
[ "$packets" -ge 2 ] && [ $took -ge $((30 * packets)) ] || fail "$packets packets of 30 ms each took $took ms"
"$plugin_test" --wrap --mca btl_count_print 0 --programs sendrecv -n 2 mine/mca_btl_count.so >suite ||
    fail "patchbay-plugin-test: $(cat suite)"

# pml: the matrix and its picture.
run 3 --mca pml_wrap matrix --mca pml_matrix_file "$work/matrix.svg" ./messages
expect 0 $status "pml/matrix ($(cat err))"
for pair in '0 to 1: 1 1000' '1 to 2: 2 2000' '2 to 0: 3 3000'; do
    words=${pair#*: }
    line=$(grep "^matrix: ${pair%: *}: " out) || fail "no line '${pair%: *}': $(cat out)"
    messages=$(sed 's/.*: \([0-9]*\) messages.*/\1/' <<<"$line")
    bytes=$(sed 's/.*, \([0-9]*\) bytes/\1/' <<<"$line")
    # The library's own messages at the end have no or few bytes.
    [ "$messages" -ge "${words% *}" ] && [ "$messages" -lt $((${words% *} + 10)) ] || fail "$line, not $pair"
    [ "$bytes" -ge "${words#* }" ] && [ "$bytes" -lt $((${words#* } + 500)) ] || fail "$line, not $pair"
done
python3 - "$work/matrix.svg" $(($(grep -c '^matrix: ' out))) <<'END' || fail "the picture: $(cat matrix.svg)"
import sys, xml.etree.ElementTree as tree
picture = tree.parse(sys.argv[1]).getroot()
squares = picture.findall("{http://www.w3.org/2000/svg}rect")
assert picture.get("viewBox") == "0 0 3 3" and len(squares) == int(sys.argv[2]), len(squares)
assert all(0 < float(square.get("opacity")) <= 1 and int(square.get("x")) < 3 for square in squares)
END
# Messages to processes of another job are in no row of it.
cat >family.c <<'END'
#include <mpi.h>
int main(int argc, char** argv) {
    enum { children = 40 };
    MPI_Comm parent, inter;
    int value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
        for (int i = 0; i < children; ++i) {
            MPI_Send(&value, 1, MPI_INT, i, 0, inter);
        }
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    }
    return MPI_Finalize();
}
END
"$mpicc" -O1 -Wall -Werror family.c -o family
run 1 --mca pml_wrap matrix ./family
expect 0 $status "pml/matrix and MPI_Comm_spawn ($(cat err))"
"$plugin_test" --wrap --programs sendrecv -n 2 mine/mca_pml_matrix.so >suite || fail "patchbay-plugin-test: $(cat suite)"
# One that is not thread-safe lowers the thread level that a program gets.
cat >thread_level.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("%s\n", provided == MPI_THREAD_MULTIPLE ? "multiple" : provided == MPI_THREAD_SERIALIZED ? "serialized" : "?");
    }
    return MPI_Finalize();
}
END
"$mpicc" thread_level.c -o thread_level
run 2 --mca pml_wrap matrix ./thread_level
expect '0 multiple' "$status $(grep -v '^matrix' out)" "the thread level with pml/matrix ($(cat err))"
mkdir serialized
sed 's/Capability::thread_multiple | Capability::sessions/Capability::sessions/' sources/pml_matrix.cpp >serialized.cpp
build serialized.cpp serialized/mca_pml_matrix.so -O0
run 2 --mca component_path "$work/serialized" --mca pml_wrap matrix ./thread_level
expect '0 serialized' "$status $(grep -v '^matrix' out)" "the thread level without thread_multiple ($(cat err))"
grep -q "component 'matrix' cannot be used: lacks thread_multiple" err || fail "the cause is not printed: $(cat err)"

# pset: the sets of the file, and an error in it.
printf '# models\nocean = 0-1 # wet\n\natmosphere=1,2\n' >sets.txt
"$plugin_test" -n 3 mine/mca_pset_file.so >suite 2>&1 && fail "patchbay-plugin-test without a file of sets: $(cat suite)"
grep -q 'no run used the component (declined: parameter pset_file_path names no file)' suite || fail "no reason: $(cat suite)"
"$plugin_test" -n 3 --mca pset_file_path "$work/sets.txt" mine/mca_pset_file.so >suite ||
    fail "patchbay-plugin-test: $(cat suite)"
expect 'pset/file: 1 passed, 0 failed' "$(tail -n 1 suite)" 'pset/file'
"$mpicc" -I"$prefix/share/patchbay/plugin-tests" "$prefix/share/patchbay/plugin-tests/pset/behaviour.c" -o behaviour
run 3 --mca pset_file_path "$work/sets.txt" ./behaviour
grep -q '^ocean$' out && ! grep -q '^atmosphere$' out || fail "the sets of rank 0: $(cat out err)"
echo 'land = x' >>sets.txt
cat >count_psets.c <<'END'
#include <mpi.h>
int main(void) {
    MPI_Session session;
    int count;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    return 0;
}
END
"$mpicc" count_psets.c -o count_psets
run 3 --mca pset_file_path "$work/sets.txt" ./count_psets
[ $status -ne 0 ] && [ $status -lt 128 ] || fail "status $status with a wrong file of sets: $(cat err)"
grep -q 'MPI_Session_get_num_psets: .*sets.txt:5: .*pset=^file' err || fail "the wrong line is not named: $(cat err)"

# coll: its plan serves all three forms of MPI_Allreduce, and passes short messages on.
run 4 --explain --mca coll chain,basic,self ./allreduce
expect '0 0 wrong elements' "$status $(cat out)" "coll/chain ($(cat err))"
grep -Eq '^coll .*MPI_COMM_WORLD.* chain +chosen' err || fail "chain is not chosen: $(cat err)"
for ranks in 2 3 5; do
    run $ranks --mca coll chain,basic,self --mca coll_chain_from 0 --mca coll_chain_segments 7 ./allreduce
    expect '0 0 wrong elements' "$status $(cat out)" "coll/chain with $ranks ranks and messages of all lengths ($(cat err))"
done
"$plugin_test" --mca coll_chain_from 0 --programs collectives --programs outstanding --programs persistent \
    --programs different_counts -n 3 mine/mca_coll_chain.so >suite || fail "patchbay-plugin-test: $(cat suite)"
expect 'coll/chain: 6 passed, 0 failed' "$(tail -n 1 suite)" 'coll/chain'

# coll: a wrapper of what provides MPI_Barrier alone.
run 3 --explain --mca coll nway,basic,self --mca coll_wrap watch ./barrier
expect "0 $good" "$status $(cat out)" "coll/watch ($(cat err))"
grep -Eq '^coll .*MPI_COMM_WORLD.* watch +wraps +- +stands before nway' err || fail "watch does not wrap nway: $(cat err)"
grep -Eq '^coll .* watch +declined .*does not wrap basic: it wraps what provides' err || fail "watch and basic: $(cat err)"
expect 3 "$(grep -c 'coll/watch: 2[0-9] barriers, 0 plans' err)" "ranks that counted their barriers ($(cat err))"

# chan: a component of this tree, built outside as another one. There is a suite for every framework.
sed -e '/#include "components/d' -e '/#pragma once/d' -e 's/emulated/outside/g' -e 's/Emulated/Outside/g' channel.h channel.cpp \
    component.cpp >chan_outside.cpp
build chan_outside.cpp mine/mca_chan_outside.so
"$plugin_test" --programs rules --programs slack -n 2 mine/mca_chan_outside.so >suite ||
    fail "patchbay-plugin-test: $(cat suite)"
expect 'chan/outside: 2 passed, 0 failed' "$(tail -n 1 suite)" 'chan/outside'
for framework in "$prefix"/include/patchbay/frameworks/*/; do
    name=$(basename "$framework")
    grep -q "^  \"$name\": {" "$prefix/share/patchbay/plugin-tests/suite.json" || fail "there are no tests for plugins of $name"
done

# What cannot wrap is an error, and so is a name that does not exist.
run 2 --mca btl_wrap sm ./messages
[ $status -ne 0 ] && [ $status -lt 128 ] || fail "status $status with a btl that wraps nothing: $(cat err)"
grep -q 'component sm of framework btl, which parameter btl_wrap names, does not wrap .*: it wraps no btl' err ||
    fail "the btl that wraps nothing is not named: $(cat err)"
run 2 --mca pml_wrap matix ./messages
grep -q "parameter pml_wrap: framework pml has no component 'matix' (installed: .*); did you mean 'matrix'?" err ||
    fail "the misspelt wrapper is not named: $(cat err)"

# patchbay-plugin-test finds a component that does not work: two communicators get one name.
mkdir broken
sed 's/std::uint64_t(random()) << 32 | random()/7 + 0 * std::uint64_t(random())/' sources/cid_random.cpp >broken.cpp
! cmp -s broken.cpp sources/cid_random.cpp || fail 'the component was not broken'
build broken.cpp broken/mca_cid_random.so -O0
! "$plugin_test" --programs constructors -n 2 broken/mca_cid_random.so >suite || fail "a broken component passed: $(cat suite)"
grep -q 'cid/random: 0 passed, 1 failed' suite || fail "patchbay-plugin-test about a broken component: $(cat suite)"
grep -q 'two communicators drew the same 64 bits' suite || fail "the cause is not printed: $(cat suite)"
# One that no run uses, one that the library refuses, and a file that is no component.
! "$plugin_test" --programs sendrecv -n 1 mine/mca_btl_count.so >suite 2>&1 || fail 'an unused component passed'
grep -q 'no run used the component.*--wrap' suite || fail "the unused component: $(cat suite)"
sed 's/cid::interface_version\|interface_version,/interface_version + 1,/' sources/cid_random.cpp >refused.cpp
build refused.cpp broken/mca_cid_random.so -O0
! "$plugin_test" broken/mca_cid_random.so >suite 2>&1 || fail 'a refused component passed'
grep -q 'cannot be used: it was built for framework cid version' suite || fail "the refused component: $(cat suite)"
! "$plugin_test" barrier.c >suite 2>&1 || fail 'a C file passed as a component'

# With CMake: a function, and the target for a library of one's own. Both examples run beside those that were built above.
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(plugins LANGUAGES CXX)
find_package(Patchbay 99 QUIET)
if(Patchbay_FOUND)
    message(FATAL_ERROR "another version was accepted")
endif()
find_package(Patchbay REQUIRED)
set(CMAKE_CXX_FLAGS "-O1 -Wall -Wextra -Werror")
patchbay_add_plugin(coll nway sources/coll_nway.cpp)
add_library(own MODULE sources/pset_file.cpp)
target_link_libraries(own PRIVATE Patchbay::plugin)
set_target_properties(own PROPERTIES PREFIX "" OUTPUT_NAME mca_pset_file)
END
cmake -S . -B cmade -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 && cmake --build cmade >>cmake.log 2>&1 ||
    fail "cmake: $(cat cmake.log)"
for name in coll_nway pset_file; do
    expect patchbay_component "$(nm -D --defined-only cmade/mca_$name.so | cut -d' ' -f3)" "what CMake's $name exports"
    cp cmade/mca_$name.so mine/
done
run 3 --explain --mca coll nway,basic,self --mca cid random --mca btl_wrap count --mca pml_wrap matrix ./barrier
expect 0 $status "all of them ($(cat err))"
grep -q "^$good\$" out || fail "all of them: $(cat out)"
for row in 'coll .* nway +chosen' 'btl .* count +wraps' 'pml .* matrix +wraps'; do
    grep -Eq "^$row" err || fail "no row '$row': $(cat err)"
done
