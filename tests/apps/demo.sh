#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The demonstration: a real program under two sets of components, side by side: demo.sh PREFIX
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
. "$here/hpcc.sh"
prefix=$(cd "${1:?usage: demo.sh PREFIX}" && pwd)
ranks=2
work=$(mktemp -d "${TMPDIR:-/tmp}/patchbay-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT

say "Fetching HPC Challenge from Debian's source packages ..."
if ! fetch hpcc "$work"; then
    say "It cannot be fetched ($fetch_problem). The same comparison with our own benchmark instead:"
    "$prefix/bin/patchbay-ab" --a btl_sm_single_copy=cma --b btl_sm_single_copy=none -n 2 --blocks 3 \
        -- "$prefix/share/patchbay/bench/pingpong.c"
    exit
fi
say "Building it, unmodified, with $prefix/bin/mpicc ..."
hpcc_build "$work/hpcc" "$prefix/bin/mpicc"

# Two sets of components for the same application: single copy or shared memory for large messages, and another algorithm
# of collectives.
names=("single copy" "copy through memory")
settings=("--mca btl_sm_single_copy cma --mca coll_basic_barrier doubling"
    "--mca btl_sm_single_copy none --mca coll_basic_barrier tree")
for i in 0 1; do
    say ""
    say "mpirun -n $ranks ${settings[$i]} hpcc"
    hpcc_input "$work/hpcc" "$ranks" 300 "$work/run$i"
    # shellcheck disable=SC2086  # the settings are words
    (cd "$work/run$i" && "$prefix/bin/mpirun" --timeout 300 -n "$ranks" ${settings[$i]} "$work/hpcc/hpcc")
    hpcc_verdict "$work/run$i" || { say "HPCC reports a failure:"; tail -30 "$work/run$i/hpccoutf.txt"; exit 1; }
    say "HPCC's own verdict: success"
done

printf '\n%-34s %18s %22s\n' "HPC Challenge, $ranks ranks" "${names[@]}"
while read -r key unit; do
    printf '%-34s %18s %22s  %s\n' "$key" "$(hpcc_value "$work/run0" "$key")" "$(hpcc_value "$work/run1" "$key")" "$unit"
done <<'KEYS'
AvgPingPongLatency_usec us
AvgPingPongBandwidth_GBytes GB/s
RandomlyOrderedRingLatency_usec us
NaturallyOrderedRingBandwidth_GBytes GB/s
PTRANS_GBs GB/s
MPIRandomAccess_GUPs GUP/s
MPIFFT_Gflops Gflop/s
HPL_Tflops Tflop/s
KEYS
say ""
say "Why which component was chosen: mpirun --explain. More comparisons: patchbay-ab --help."
