#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev help, install, doctor, demo without a network, and bench --readme: commands_test.sh DEV PREFIX
. "$(dirname "$0")/common.sh"
dev=$(realpath "$1")
use_prefix "$2"

# The help lists the commands of main().
known=$(sed -n '/^main()/,/^}/p' "$dev" | sed -nE 's/^    ([a-z][a-z-]*)\).*/\1/p' | sort)
listed=$("$dev" help | sed -nE 's/^  ([a-z][a-z-]*)( .*)?$/\1/p' | sort)
expect "$known" "$listed" 'the commands in ./dev help'
status=0
"$dev" xyzzy >"$work/out" 2>&1 || status=$?
expect 1 $status 'an unknown command'
grep -q 'unknown command xyzzy' "$work/out" || fail 'an unknown command is not named'

# install, into a relative path; files are the user's to change, and programs can be run.
cd "$work"
"$dev" install there >"$work/out" 2>&1 || fail "install: $(cat "$work/out")"
expect 2 "$(there/bin/mpirun -n 2 echo started | grep -c '^started$')" 'lines of two ranks of the installed mpirun'
expect libmpi_abi.so.1 "$(readlink there/lib/libmpi_abi.so)" 'lib/libmpi_abi.so'
expect '' "$(find there/include there/share there/lib -type f ! -perm 644)" 'installed files with another mode than 644'
expect '' "$(find there/bin -type f ! -perm -755)" 'programs that cannot be run'
# A second installation replaces files; it does not write into those that running programs have mapped.
before=$(stat -c %i there/lib/libmpi_abi.so.1)
exec 9<there/lib/libmpi_abi.so.1 # keeps the number of the old file in use
"$dev" install "$work/there" 2>/dev/null
[ "$before" != "$(stat -c %i there/lib/libmpi_abi.so.1)" ] || fail 'install wrote into a file that may be mapped'
exec 9<&-
status=0
"$dev" install >"$work/out" 2>&1 || status=$?
expect 1 $status 'install without a prefix'

# doctor: every line has a verdict, and the exit status says whether one is BAD.
status=0
"$dev" doctor >"$work/out" || status=$?
expect '' "$(grep -vE '^(ok|note|BAD) ' "$work/out" || true)" 'lines of doctor without a verdict'
for subject in packages 'g\+\+' OpenPMIx core /dev/shm 'single copy' membarrier; do
    grep -qE "^[a-zA-Z]+ +.*$subject" "$work/out" || fail "doctor does not report on $subject: $(cat "$work/out")"
done
expect "$(grep -c '^BAD' "$work/out" | sed 's/[1-9].*/1/')" $status "doctor's exit status"
stub dpkg-query <<<'[ "${!#}" = libpmix-dev ] || printf installed'
status=0
"$dev" doctor >"$work/out" || status=$?
expect 1 $status 'doctor without a package that the build needs'
grep -q '^BAD *packages.*libpmix-dev (build)' "$work/out" || fail "doctor does not name libpmix-dev: $(cat "$work/out")"
stub dpkg-query <<<'printf installed'

# Without a network the demonstration compares with our own benchmark.
stub apt-get <<<'echo "E: no such source" >&2; exit 100'
unset PATCHBAY_SOURCES
mkdir "$work/tmp"
PATCHBAY_CC='gcc -DBENCH_DIVISOR=50' TMPDIR=$work/tmp "$dev" demo >"$work/out" 2>&1 || fail "demo: $(cat "$work/out")"
grep -q 'cannot be fetched (apt-get source hpcc: no such source)' "$work/out" ||
    fail "demo does not say why HPCC cannot be fetched: $(cat "$work/out")"
expect '' "$(ls "$work/tmp")" 'what demo leaves in TMPDIR'
grep -qE '^half_round_trip_1MiB +b .*\.\.' "$work/out" || fail "demo shows no comparison: $(cat "$work/out")"

"$dev" bench --readme --help >"$work/out"
grep -q -- '--print' "$work/out" || fail 'bench --readme is not bench/readme.py'
