#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The examples of the pages in docs/ do what they say: docs_test.sh PREFIX. Comparisons with peers are left to tests/ab.
. "$(dirname "$0")/common.sh"
export PATH=$prefix/bin:$PATH
pages=$prefix/share/doc/patchbay
mkdir "$work/pasted"
cd "$work/pasted"

# Some examples run programs of the reader's own.
cat >program.c <<'END'
#include <mpi.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
END
mpicc program.c -o program
cp program master
cp program worker

# paste PAGE: what a reader would paste from it into one shell.
paste_page() {
    awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$pages/$1.md" >"$1.sh"
    [ -s "$1.sh" ] || fail "$1.md has no examples"
    bash -euo pipefail "$1.sh" >"$1.out" 2>&1 || fail "the examples of $1.md: $(cat "$1.out")"
}
for page in errors launching parameters sessions; do
    paste_page "$page"
done

# Four ranks once with the launcher's sets, once with sets by parameter, and once with none.
for rank in '0: the ranks of ocean add up to 1' '1: the ranks of ocean add up to 1' \
    '2: the ranks of atmosphere add up to 5' '3: the ranks of atmosphere add up to 5'; do
    expect 2 "$(grep -c "^rank $rank\$" sessions.out)" "rank $rank"
done
grep -q 'btl_sm_eager_limit' parameters.out || fail 'parameters.md lists no parameter'
grep -q 'pml' errors.out || fail 'errors.md explains nothing'
