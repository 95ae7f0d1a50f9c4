#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs one MPI test program: mpi_test.sh PREFIX PROGRAM RANKS SECONDS EXIT_STATUS [MPIRUN OPTION]... -- [ARGUMENT]...
# With 0 ranks the program is a singleton and the options are NAME=VALUE pairs for its environment.
set -u
# Bazel's sandbox shows each file of the tree as a link to where it really is.
prefix=$(dirname "$(dirname "$(realpath -- "$1/lib/libmpi_abi.so.1")")")
program=$(realpath -- "$2")
ranks=$3 seconds=$4 wanted=$5
shift 5
options=()
while [ "$1" != -- ]; do
    options+=("$1")
    shift
done
shift

export LD_LIBRARY_PATH=$prefix/lib
# Whatever the user's own configuration says, a test has only the parameters that it names.
export HOME=${TEST_TMPDIR:-/tmp}
if [ "$ranks" -eq 0 ]; then
    command=(env "${options[@]}" "$program" "$@")
else
    command=("$prefix/bin/mpirun" --timeout "$seconds" -n "$ranks" "${options[@]}" "$program" "$@")
fi
# mpirun's own limit comes first and explains itself; timeout(1) is there for an mpirun that hangs.
timeout -k 5 $((seconds + 10)) "${command[@]}"
status=$?
if [ $status -ne "$wanted" ]; then
    printf 'exit status %d, wanted %d: %s\n' $status "$wanted" "${command[*]}" >&2
    exit 1
fi
