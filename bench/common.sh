# SPDX-License-Identifier: BSD-3-Clause
# What the comparing scripts share. Sourced with the folder of the benches in `here`, the arguments of the script as own.
# A script that sets `share` before each table, in percent of its time, has --minutes N.

usage="PREFIX [--quick | --blocks N${share:+ | --minutes N}] [--json FOLDER] [--against PREFIX]"
case ${1-} in
-h | --help) echo "usage: $0 $usage"; exit 0 ;;
'' | -*) echo "usage: $0 $usage" >&2; exit 2 ;;
esac
[ -x "$1/bin/patchbay-ab" ] || { echo "$0: no installation in $1 (./dev install $1 makes one)" >&2; exit 2; }
prefix=$(cd "$1" && pwd)
shift
blocks=7
json=
against=
minutes=
while [ $# -gt 0 ]; do
    case $1 in
    --quick) blocks=3; shift;;
    --blocks) blocks=$2; shift 2;;
    --minutes)
        [ -n "${share:-}" ] || { echo "$0: --minutes is not for this script" >&2; exit 2; }
        minutes=$2; shift 2;;
    --json) mkdir -p "$2"; json=$(cd "$2" && pwd); shift 2;;
    --against) against=$(cd "$2" && pwd); shift 2;;
    *) echo "$0: unknown option $1 (usage: $0 $usage)" >&2; exit 2;;
    esac
done

references=()
for reference in openmpi mpich; do
    if [ -n "$against" ]; then
        references=(--prefix "before:$against" --prefix "after:$prefix")
    elif command -v "mpirun.$reference" >/dev/null && command -v "mpicc.$reference" >/dev/null; then
        references+=(--reference "$reference")
    else
        echo "$0: $reference is not installed and is left out" >&2
    fi
done

# has REFERENCE: is it installed?
has() { [[ " ${references[*]} " == *" $1 "* ]]; }

# compare TITLE NAME RANKS [patchbay-ab options] -- PROGRAM [ARGUMENT]...: one table. With --minutes, figures of a quarter
# of the length, and as many blocks as the table's share of the time has room for.
compare() {
    local title=$1 name=$2 ranks=$3
    local -a limits=(--blocks "$blocks")
    shift 3
    if [ -n "$minutes" ]; then
        limits=(--blocks 15 --seconds $((minutes * 60 * share / 100)) --warm-up 0 --cflags=-DBENCH_DIVISOR=4)
    fi
    printf '\n== %s (%s ranks) ==\n' "$title" "$ranks"
    "$prefix/bin/patchbay-ab" -n "$ranks" "${limits[@]}" ${json:+--json "$json/$name.json"} "$@"
}
