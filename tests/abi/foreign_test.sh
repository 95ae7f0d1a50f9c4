#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program that was built without our header and library runs with our library: foreign_test.sh PREFIX FOREIGN_PROGRAM
set -euo pipefail
prefix=$(dirname "$(dirname "$(realpath -- "$1/lib/libmpi_abi.so.1")")")
program=$(realpath -- "$2")
export LD_LIBRARY_PATH=$prefix/lib
export HOME=${TEST_TMPDIR:-/tmp}

needed=$(objdump -p "$program" | awk '$1 == "NEEDED" && $2 ~ /mpi/ { print $2 }')
if [ "$needed" != libmpi_abi.so.1 ]; then
    echo "the program wants '$needed', not libmpi_abi.so.1" >&2
    exit 1
fi
timeout 60 "$program"
for ranks in 1 3; do
    timeout 70 "$prefix/bin/mpirun" --timeout 60 -n "$ranks" "$program"
done
