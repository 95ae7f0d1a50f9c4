#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# job_test.sh MPIRUN PROGRAM RANKS [ARGUMENT...]: every rank must report success, and nothing may be left behind.
set -u
mpirun=$1 program=$2 ranks=$3
shift 3
before=$(ls /dev/shm)
output=$("$mpirun" -n "$ranks" --timeout 100 "$program" "$@") || { status=$?; echo "$output"; echo "FAILED: exit status $status"; exit 1; }
echo "$output"
good=$(echo "$output" | grep -c '^rank [0-9]*: ok$')
if [ "$good" -ne "$ranks" ]; then
    echo "FAILED: $good of $ranks ranks were well"
    exit 1
fi
left=$(find /dev/shm -maxdepth 1 -printf '%f\n' | grep '^patchbay\.' | while read -r file; do echo "$before" | grep -qx "$file" || echo "$file"; done)
if [ -n "$left" ]; then
    echo "FAILED: left behind in /dev/shm: $left"
    exit 1
fi
