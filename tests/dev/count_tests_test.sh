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
{
    printf '%s\n' 'exec ${PAGER:-/usr/bin/less} "$0" || exit 1' 'Executing tests from //crash' ---------- first ''
    printf 'line %s  \n' {2..20}
} >long.log
# What unittest prints: a skipped test with and without a description, and a torn line.
cat >unittest.log <<'END'
test_good (__main__.Launch.test_good) ... ok
test_cores (__main__.Launch.test_cores) ... skipped 'one core only'
test_described (__main__.Launch.test_described)
As many as there are ranks. ... skipped 'SKIPPED: caches: none'
test_torn (__main__.Launch.test_torn) ... output of a process
skipped 'nobody sees this'
----------------------------------------------------------------------
Ran 4 tests in 0.512s

OK (skipped=3)
END
cat >allskipped.log <<'END'
test_cores (__main__.Launch.test_cores) ... skipped 'one core only'
----------------------------------------------------------------------
Ran 1 test in 0.001s

OK (skipped=1)
END
cat >unittest_good.log <<'END'
test_good (__main__.Launch.test_good) ... ok
----------------------------------------------------------------------
Ran 1 test in 0.001s

OK
END
# The report of an MPI test: two launches of the default set, of which one failed, and two of --full.
cat >launches.xml <<'END'
<testsuites name="cases"><testsuite name="//tests/comm:x">
<testcase name="mask_np2" time="1.5" launches="1" sampled="1"/>
<testcase name="mask_np8" time="40" launches="1" sampled="0"/>
<testcase name="excid_np2" time="0.5" launches="1" sampled="1"><failure message="exit status 3, wanted 0"/></testcase>
<testcase name="excid_np0" time="0" launches="1" sampled="0"><skipped message="no"/></testcase>
</testsuite></testsuites>
END

wanted() {
    printf '{"id":{"targetConfigured":{"label":"%s"}},"configured":{"testSize":"SMALL"}}\n' "$1"
}
# ran LABEL STATUS LOG XML
ran() {
    printf '{"id":{"testResult":{"label":"%s"}},"testResult":{"status":"%s",' "$1" "$2"
    printf '"testAttemptDurationMillis":"3000","testActionOutput":['
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
    ran //crash FAILED long.log none.xml
} >mixed.json
check 1 'SKIPPED: x //a A.skip
SKIPPED: x //a A.off
SKIPPED: x //b: apps/hpcc: no network
FAILED: x //a A.bad
    1 is not 2
FAILED: x //c: FAILED
    SKIPPED: apps/hpcc: no network
FAILED: x //crash: FAILED
    first
    [...]
    line 11
    line 12
    line 13
    line 14
    line 15
    line 16
    line 17
    line 18
    line 19
    line 20
FAILED: x //d: did not run
3 passed, 4 failed, 3 skipped' plain=good.json x=mixed.json

{ wanted //a; echo '{"id":{"targetCompleted":{"label":"//a"}},"aborted":{"reason":"SKIPPED"}}'; } >incompatible.json
check 0 '0 passed, 0 failed' static=incompatible.json
check 1 "FAILED: lost: no record of the run: [Errno 2] No such file or directory: 'none.json'
0 passed, 1 failed" lost=none.json

# unittest scripts: what they skip is no pass.
{
    ran //a PASSED unittest.log script.xml
    ran //b PASSED allskipped.log script.xml
    ran //c PASSED unittest_good.log script.xml
    ran //d FAILED unittest.log script.xml
} >unittest.json
check 1 "SKIPPED: x //a: test_cores: 'one core only'
SKIPPED: x //a: test_described: 'SKIPPED: caches: none'
SKIPPED: x //a: a test of this script
SKIPPED: x //b: test_cores: 'one core only'
FAILED: x //d: FAILED
    test_good (__main__.Launch.test_good) ... ok
    test_cores (__main__.Launch.test_cores) ... skipped 'one core only'
    test_described (__main__.Launch.test_described)
    As many as there are ranks. ... skipped 'SKIPPED: caches: none'
    test_torn (__main__.Launch.test_torn) ... output of a process
    skipped 'nobody sees this'
    ----------------------------------------------------------------------
    Ran 4 tests in 0.512s
    OK (skipped=3)
2 passed, 1 failed, 4 skipped" x=unittest.json

# MPI tests count by their cases; one that was killed has a report of the cases before.
ran //tests/comm:x FAILED plain.log launches.xml >launches.json
check 1 'SKIPPED: x //tests/comm:x excid_np0
FAILED: x //tests/comm:x excid_np2
    exit status 3, wanted 0
2 passed, 1 failed, 1 skipped' x=launches.json
sed -i /excid_np2/d launches.xml
ran //tests/comm:x TIMEOUT plain.log launches.xml >killed.json
check 1 'SKIPPED: x //tests/comm:x excid_np0
FAILED: x //tests/comm:x: TIMEOUT although no case failed
    all is well
2 passed, 1 failed, 1 skipped' x=killed.json

# The budget: launches and seconds of the default set, by folder.
{
    ran //tests/comm:x PASSED plain.log launches.xml
    ran //tests/comm:y PASSED plain.log script.xml
} >within.json
echo '{"folders": {"tests/comm": {"launches": 1, "seconds": 2.5}}}' >enough.json
echo '{"folders": {"tests/comm": {"launches": 1, "seconds": 2}}}' >slow.json
echo '{"folders": {"tests/comm": {"launches": 0, "seconds": 0.5}}}' >small.json
echo '{"folders": {}}' >none.json
check 0 '        launches          seconds
     1 of      1      4 of    2.5  tests/comm
the 20 slowest cases:
   40.00 s  x //tests/comm:x mask_np8
    3.00 s  x //tests/comm:y
    1.50 s  x //tests/comm:x mask_np2
    0.00 s  x //tests/comm:x excid_np0
SKIPPED: x //tests/comm:x excid_np0
3 passed, 0 failed, 1 skipped' --budget enough.json x=within.json
check 0 '        launches          seconds
     1 of      1      4 of      2  tests/comm
the 20 slowest cases:
   40.00 s  x //tests/comm:x mask_np8
    3.00 s  x //tests/comm:y
    1.50 s  x //tests/comm:x mask_np2
    0.00 s  x //tests/comm:x excid_np0
SLOW: tests/comm: 4 s, 2 are allowed and 12 tolerated
SKIPPED: x //tests/comm:x excid_np0
3 passed, 0 failed, 1 skipped' --budget slow.json x=within.json
check 1 '        launches          seconds
     1 of      0      4 of    0.5  tests/comm
the 20 slowest cases:
   40.00 s  x //tests/comm:x mask_np8
    3.00 s  x //tests/comm:y
    1.50 s  x //tests/comm:x mask_np2
    0.00 s  x //tests/comm:x excid_np0
SKIPPED: x //tests/comm:x excid_np0
FAILED: budget tests/comm: 1 launches, 0 are allowed
FAILED: budget tests/comm: 4 s, 0.5 are allowed and 3.0 tolerated
3 passed, 2 failed, 1 skipped' --budget small.json x=within.json
[[ $(python3 "$count" --budget none.json x=within.json) == \
    *'FAILED: budget tests/comm: not in tests/budget.json (1 launches, 4 s)'* ]]
