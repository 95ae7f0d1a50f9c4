#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The programs over channels print the same RESULT as their twins by messages: twins_test.sh PREFIX EXAMPLES.
set -euo pipefail
prefix=$(cd "$1" && pwd)
examples=$(cd "$2" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# result RANKS PROGRAM [ARGUMENT]...: what it prints as its result.
result() {
    local ranks=$1 program=$2
    shift 2
    "$prefix/bin/mpirun" -n "$ranks" "$folder/$program" "$@" | sed -n 's/^RESULT //p'
}
# same RESULT RESULT WHAT
same() {
    if [ -z "$1" ] || [ "$1" != "$2" ]; then
        echo "$3: '$1' and '$2'" >&2
        exit 1
    fi
    echo "$3: $1"
}

for program in circular_buffer_channels circular_buffer_messages heat_channels heat_messages; do
    "$prefix/bin/mpicc" -O2 -Wall -Werror "$examples/$program.c" -o "$folder/$program"
done
for ranks in 1 2 4; do
    same "$(result "$ranks" circular_buffer_channels 57)" "$(result "$ranks" circular_buffer_messages 57)" \
        "circular buffer, $ranks ranks"
    plain=$(result "$ranks" heat_messages 40 81)
    same "$(result "$ranks" heat_channels 40 81)" "$plain" "heat, $ranks ranks"
    same "$(result "$ranks" heat_messages 40 81 plain)" "$plain" "heat with the way that bench/channels gives, $ranks ranks"
    same "$(result "$ranks" heat_messages 40 81 persistent)" "$plain" "heat with persistent requests, $ranks ranks"
done
# Fewer blocks than slots, and one step.
same "$(result 2 circular_buffer_channels 2)" "$(result 2 circular_buffer_messages 2)" "two blocks"
same "$(result 2 heat_channels 9 1)" "$(result 2 heat_messages 9 1)" "one step"
