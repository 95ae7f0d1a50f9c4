# SPDX-License-Identifier: BSD-3-Clause
# For the tests of ./dev. Sourced: `work` is a folder that goes at the end, `stubs` one that comes first in PATH. There
# `dpkg-query` finds every package and `bazel` has built the prefix that is given to use_prefix: a Bazel cannot run
# inside a test of its own.
set -euo pipefail

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

# expect WANTED GOT WHAT
expect() {
    [ "$1" = "$2" ] || fail "$3: wanted '$1', got '$2'"
}

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/dev.XXXXXX")
trap 'rm -rf "$work"' EXIT
stubs=$work/stubs
mkdir "$stubs"
export HOME=$work PATH=$stubs:$PATH DEV_CACHE=none

# stub NAME: a command of that name, from standard input.
stub() {
    { echo '#!/bin/bash'; cat; } >"$stubs/$1"
    chmod +x "$stubs/$1"
}
stub dpkg-query <<<'printf installed'

# use_prefix PREFIX: what `bazel build //:prefix` has made.
use_prefix() {
    local tree
    # Bazel's sandbox shows each file as a link to where it really is.
    tree=$(dirname "$(dirname "$(realpath "$1/lib/libmpi_abi.so.1")")")
    stub bazel <<END
case "\$*" in
*'build //:prefix'*) echo "built" >&2 ;;
*'info bazel-bin'*) echo '$work/bazel-bin' ;;
*) echo "this bazel knows nothing of \$*" >&2; exit 1 ;;
esac
END
    mkdir "$work/bazel-bin"
    ln -s "$tree" "$work/bazel-bin/prefix"
}
