#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# two_jobs_test.sh MPIRUN PROGRAM: two ranks, which spawn three others twice; each must report success.
set -u
output=$("$1" -n 2 --timeout 60 "$2") || { status=$?; echo "$output"; echo "FAILED: exit status $status"; exit 1; }
echo "$output"
[ "$(echo "$output" | grep -c '^parent [01] ok$')" -eq 2 ] && [ "$(echo "$output" | grep -c '^child [012] ok$')" -eq 6 ] || {
    echo "FAILED: not all processes were well"
    exit 1
}
