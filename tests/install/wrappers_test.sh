#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The output of the wrappers, and the programs that they build: wrappers_test.sh PREFIX
. "$(dirname "$0")/common.sh"
cd "$work"
bin=$prefix/bin
compile="-I$prefix/include"
link="-L$prefix/lib -Wl,-rpath,$prefix/lib -Wl,--enable-new-dtags -lmpi_abi"

expect "gcc $compile $link" "$("$bin/mpicc" -show)" 'mpicc -show'
expect "g++ $compile $link" "$("$bin/mpicxx" -show)" 'mpicxx -show'
expect "$compile" "$("$bin/mpicc" -showme:compile)" 'mpicc -showme:compile'
expect "$link" "$("$bin/mpicxx" -showme:link)" 'mpicxx -showme:link'
expect "$prefix/include" "$("$bin/mpicc" -showme:incdirs)" 'mpicc -showme:incdirs'
expect "$prefix/lib" "$("$bin/mpicc" -showme:libdirs)" 'mpicc -showme:libdirs'
expect mpi_abi "$("$bin/mpicc" -showme:libs)" 'mpicc -showme:libs'
expect "gcc $compile" "$("$bin/mpicc" -compile_info)" 'mpicc -compile_info'
expect "env gcc $compile" "$(PATCHBAY_CC='env gcc' "$bin/mpicc" -compile_info)" 'mpicc -compile_info with a command of two words'
expect "gcc $compile $link" "$("$bin/mpicc" -link_info)" 'mpicc -link_info'
expect "gcc $compile -c a.c" "$("$bin/mpicc" -show -c a.c)" 'mpicc -show -c'
expect "clang $compile a.c $link" "$("$bin/mpicc" -cc=clang -show a.c)" 'mpicc -cc='
expect "other -x $compile a.c $link" "$(PATCHBAY_CXX='other -x' "$bin/mpicxx" -show a.c)" PATCHBAY_CXX
expect "gcc $compile '-DNAME=\"a b\"' -c a.c" "$("$bin/mpicc" -show '-DNAME="a b"' -c a.c)" 'quoting'
for name in mpicxx mpic++ mpiCC mpicxx_abi; do
    expect g++ "$("$bin/$name" -showme:command)" "$name"
done
for name in mpicc mpicc_abi; do
    expect gcc "$("$bin/$name" -showme:command)" "$name"
done
expect "$(gcc --version)" "$("$bin/mpicc" --version)" 'mpicc --version'
"$bin/mpicc" -v 2>/dev/null || fail 'mpicc -v must not link'
if "$bin/mpicc" -showme:nonsense 2>/dev/null; then
    fail 'an unknown question must fail'
fi
if PATCHBAY_CC=no-such-compiler "$bin/mpicc" -c a.c 2>message; then
    fail 'a missing compiler must fail'
fi
grep -q 'no-such-compiler' message || fail "the missing compiler is not named: $(cat message)"
if "$bin/mpicc" -cc= -c a.c 2>message; then
    fail 'no compiler must fail'
fi
grep -q "there is no compiler ''" message || fail "the missing compiler is not named: $(cat message)"

cat >'a file.c' <<'END'
#include <mpi.h>
#include <mpix.h>
int main(void) {
    int major, minor;
    return MPI_Get_version(&major, &minor) != MPI_SUCCESS || major != MPI_VERSION;
}
END
"$bin/mpicc" -Wall -Werror 'a file.c' -o one_step
./one_step || fail 'built in one step'
"$bin/mpicc" -c 'a file.c' -o a.o
"$bin/mpicc" a.o -o two_steps
./two_steps || fail 'built in two steps'
"$bin/mpicxx" -x c++ 'a file.c' -o cxx
./cxx || fail 'built as C++'
"$bin/mpicc" -E 'a file.c' >preprocessed.c
grep -q MPI_Get_version preprocessed.c || fail 'mpicc -E'
# The constants that stand for an argument give no warning. They are addresses of nothing, which gcc takes for small arrays.
cat >constants.c <<'END'
#include <mpi.h>
void constants(MPI_Comm comm, int peer, int *found, MPI_Request *requests, MPI_Comm *made) {
    int one = 1, flag;
    void *buffer;
    MPI_Dist_graph_create(comm, 1, &peer, &one, &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
    MPI_Dist_graph_create_adjacent(comm, 1, &peer, MPI_UNWEIGHTED, 0, found, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, made);
    MPI_Dist_graph_neighbors(comm, 1, found, MPI_UNWEIGHTED, 1, found, MPI_UNWEIGHTED);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Testany(2, requests, &one, &flag, MPI_STATUS_IGNORE);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, found, 1, MPI_INT, comm);
    MPI_Bcast(MPI_BOTTOM, 0, MPI_INT, 0, comm);
    MPI_Comm_spawn("a", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, comm, made, MPI_ERRCODES_IGNORE);
    MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
    MPI_Comm_detach_buffer(comm, &buffer, &one);
}
END
"$bin/mpicc" -O2 -Wall -Wextra -Werror -c constants.c || fail 'a constant gives a warning'
"$bin/mpicxx" -O2 -Wall -Wextra -Werror -x c++ -c constants.c || fail 'a constant gives a warning in C++'
ln -s "$bin/mpicc" elsewhere-mpicc
./elsewhere-mpicc 'a file.c' -o linked && ./linked || fail 'a link to the wrapper from elsewhere'

# A program finds the library by name, not by the place it was built in, so that the library can be exchanged.
readelf -d one_step >dynamic
grep -q 'NEEDED.*\[libmpi_abi.so.1\]' dynamic || fail 'the program does not need libmpi_abi.so.1'
expect 1 "$(grep -c 'NEEDED.*mpi' dynamic)" 'libraries of MPI that the program needs'
