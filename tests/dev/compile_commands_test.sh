#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev compile-commands: of what Bazel would run becomes what clangd can parse:
# compile_commands_test.sh DEV COMPILE_COMMANDS.PY
. "$(dirname "$0")/common.sh"
tree=$work/tree base=$work/output_base
mkdir -p "$tree/tools/dev" "$tree/part" "$base/external/system/include/thing"
cp -L "$1" "$tree"
cp -L "$2" "$tree/tools/dev"
cd "$tree"
: >tools/packages.txt
echo 'constexpr int thing = 1;' >"$base/external/system/include/thing/thing.h"
echo '#include <thing.h>' >part/header.h
printf '#include "part/header.h"\nstatic_assert(GIVEN == thing);\nauto f = [](auto x) requires(sizeof(x) > 0) { return x; };\n' \
    >part/code.cpp
: >part/other.cpp
stub bazel <<END
case "\$*" in
*'info output_base'*) echo '$base' ;;
*'aquery mnemonic("CppCompile", //...)'*) cat '$work/actions.json' ;;
*) echo "this bazel knows nothing of \$*" >&2; exit 1 ;;
esac
END
cat >"$work/actions.json" <<'END'
{"actions": [
 {"arguments": ["/usr/bin/gcc", "-MD", "-MF", "bazel-out/x.d", "-frandom-seed=x", "-DGIVEN=1", "-iquote", ".", "-isystem",
  "external/system/include/thing", "-std=c++20", "-fno-canonical-system-headers", "-D__DATE__=\"redacted\"", "-c",
  "part/code.cpp", "-o", "bazel-out/x.o"]},
 {"arguments": ["/usr/bin/gcc", "-c", "part/other.cpp", "-o", "bazel-out/y.o"]},
 {"arguments": ["/usr/bin/gcc", "-DSECOND", "-c", "part/other.cpp", "-o", "bazel-out/z.o"]},
 {"arguments": ["/usr/bin/ar", "x"]}
]}
END
./dev compile-commands
expect '["part/code.cpp", "part/other.cpp"]' "$(python3 -c '
import json
print(json.dumps([entry["file"] for entry in json.load(open("compile_commands.json"))]))')" 'files'
if ! command -v clangd >/dev/null; then
    echo 'SKIPPED: compile_commands: clangd is not installed (tools/packages.txt, group develop)'
    exit 0
fi
clangd --check="$tree/part/code.cpp" >out 2>&1 || fail "clangd cannot parse a file: $(grep '^E' out)"
grep -q 'All checks completed, 0 errors' out || fail "clangd: $(tail -3 out)"
sed -i 's/-DGIVEN=1/-DGIVEN=2/' compile_commands.json
! clangd --check="$tree/part/code.cpp" >out 2>&1 || fail 'clangd does not use compile_commands.json'
# A failure leaves the old file in place.
echo '{"actions": []}' >"$work/actions.json"
cp compile_commands.json before.json
! ./dev compile-commands 2>/dev/null || fail 'no compilation is a success'
cmp before.json compile_commands.json || fail 'a failure destroys compile_commands.json'
