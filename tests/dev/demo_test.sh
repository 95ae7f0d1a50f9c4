#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev demo with HPC Challenge, which it fetches: demo_test.sh DEV PREFIX
. "$(dirname "$0")/common.sh"
use_prefix "$2"
"$(realpath "$1")" demo >"$work/out" 2>&1 || fail "demo: $(tail -40 "$work/out")"
if problem=$(grep -m 1 -o 'cannot be fetched (.*)' "$work/out"); then
    echo "SKIPPED: demo: HPC Challenge $problem"
    exit 0
fi
expect 2 "$(grep -c "^HPCC's own verdict: success$" "$work/out")" 'successful runs of HPCC'
for key in AvgPingPongLatency_usec PTRANS_GBs MPIRandomAccess_GUPs MPIFFT_Gflops HPL_Tflops; do
    grep -qE "^$key +[0-9.e-]+ +[0-9.e-]+  " "$work/out" || fail "no two figures of $key: $(tail -12 "$work/out")"
done
