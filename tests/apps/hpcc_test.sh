#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# HPC Challenge 1.5.0, unmodified but for two removed names: hpcc_test.sh COMMON HPCC PREFIX. By default a small problem with
# 2 ranks, in full size a larger one with 2 and 4.
set -euo pipefail
. "$1"
. "$2"
prefix=$(cd "$3" && pwd)
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/hpcc.XXXXXX")
trap 'rm -rf "$work"' EXIT
[ -e "$(gcc -print-file-name=libblas.so)" ] || skip hpcc "libblas-dev is not installed"
fetch hpcc "$work" || skip hpcc "$fetch_problem"
hpcc_build "$work/hpcc" "$prefix/bin/mpicc"
if full_size 0; then
    sizes='2 4' order=300
else
    sizes=2 order=100
fi
for ranks in $sizes; do
    run=$work/run$ranks
    hpcc_input "$work/hpcc" "$ranks" $order "$run"
    (cd "$run" && "$prefix/bin/mpirun" --timeout 240 -n "$ranks" "$work/hpcc/hpcc")
    hpcc_verdict "$run" || { say "HPCC with $ranks ranks failed:"; tail -40 "$run/hpccoutf.txt"; exit 1; }
    say "HPCC with $ranks ranks: success"
done
