#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev format on a small tree: finds, mends, and leaves alone what is in order: format_test.sh DEV CLANG_FORMAT
. "$(dirname "$0")/common.sh"
mkdir "$work/tree"
cp -L "$1" "$2" "$work/tree"
cd "$work/tree"
git init -q .
printf 'int  f( ) {return 1 ;}\n' >bad.cpp
printf 'int g() {\n    return 1;\n}\n' >good.c
cp good.c wanted.c
git add .
status=0
./dev format --check >out 2>&1 || status=$?
[ $status -ne 0 ] || fail 'format --check accepts a file that is not laid out'
grep -q 'bad.cpp:1' out || fail "format --check does not name bad.cpp: $(cat out)"
! grep -q 'good.c' out || fail 'format --check names good.c'
expect 'int  f( ) {return 1 ;}' "$(cat bad.cpp)" 'bad.cpp after format --check'
./dev format
expect "$(printf 'int f() {\n    return 1;\n}')" "$(cat bad.cpp)" 'bad.cpp after format'
cmp good.c wanted.c || fail 'format changes what is in order'
./dev format --check || fail 'format --check after format'
! ./dev format --xyzzy 2>/dev/null || fail 'an unknown option is accepted'
