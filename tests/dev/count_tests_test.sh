#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What ./dev test reports must be what ran: count_tests_test.sh COUNT_TESTS.PY
set -euo pipefail
count=$(realpath "$1")
cd "$(mktemp -d "${TEST_TMPDIR:-/tmp}/count.XXXXXX")"

cat >cases.xml <<'END'
<testsuites tests="5" name="AllTests"><testsuite name="A">
<testcase name="good" status="run" result="completed" classname="A"/>
<testcase name="bad" status="run" result="completed" classname="A"><failure message="1 is not 2"/></testcase>
<testcase name="skip" status="run" result="skipped" classname="A"><skipped message="no"/></testcase>
<testcase name="off" status="notrun" result="suppressed" classname="A"/>
<testcase name="good2" status="run" result="completed" classname="A"/>
</testsuite></testsuites>
END
echo '<testsuites><testsuite name="script" tests="1"><testcase name="script"/></testsuite></testsuites>' >script.xml
echo 'SKIPPED: apps/hpcc: no network' >skip.log
echo 'all is well' >plain.log

wanted() {
    printf '{"id":{"targetConfigured":{"label":"%s"}},"configured":{"testSize":"SMALL"}}\n' "$1"
}
# ran LABEL STATUS LOG XML
ran() {
    printf '{"id":{"testResult":{"label":"%s"}},"testResult":{"status":"%s","testActionOutput":[' "$1" "$2"
    printf '{"name":"test.log","uri":"file://%s"},{"name":"test.xml","uri":"file://%s"}]}}\n' "$PWD/$3" "$PWD/$4"
}
# check STATUS TEXT ARGUMENT...
check() {
    local status=0 output
    output=$(python3 "$count" "${@:3}") || status=$?
    if [ "$status" != "$1" ] || [ "$output" != "$2" ]; then
        printf 'wanted %s and:\n%s\ngot %s and:\n%s\n' "$1" "$2" "$status" "$output" >&2
        exit 1
    fi
}

{ wanted //a; ran //a PASSED plain.log script.xml; } >good.json
check 0 '1 passed, 0 failed' plain=good.json

{
    wanted //a
    wanted //b
    wanted //c
    wanted //d
    wanted //crash
    ran //a FAILED plain.log cases.xml
    ran //b PASSED skip.log script.xml
    ran //c FAILED skip.log script.xml
    ran //crash FAILED plain.log none.xml
} >mixed.json
check 1 'SKIPPED: x //a A.skip
SKIPPED: x //a A.off
SKIPPED: x //b: apps/hpcc: no network
FAILED: x //a A.bad
FAILED: x //c: FAILED
FAILED: x //crash: FAILED
FAILED: x //d: did not run
3 passed, 4 failed, 3 skipped' plain=good.json x=mixed.json

{ wanted //a; echo '{"id":{"targetCompleted":{"label":"//a"}},"aborted":{"reason":"SKIPPED"}}'; } >incompatible.json
check 0 '0 passed, 0 failed' static=incompatible.json
check 1 "FAILED: lost: no record of the run: [Errno 2] No such file or directory: 'none.json'
0 passed, 1 failed" lost=none.json
