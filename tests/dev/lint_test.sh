#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The source tree passes ./dev lint --quick (layout, scripts, pages): lint_test.sh DEV
# It reads the whole tree, of which only ./dev is an input for Bazel: the test's tag makes it run every time.
. "$(dirname "$0")/common.sh"
root=$(dirname "$(realpath "$1")")
if ! git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
    echo 'SKIPPED: lint: the source tree is no git checkout'
    exit 0
fi
bash "$root/tools/dev/lint.sh" --quick >"$work/out" 2>&1 || fail "$(cat "$work/out")"
expect 7 "$(grep -c '^ok ' "$work/out")" 'checks that passed'
