# SPDX-License-Identifier: BSD-3-Clause
# For the scripts of this folder: `prefix` is a copy of the installation in a place it was not built for.
set -euo pipefail

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

# expect WANTED GOT WHAT
expect() {
    [ "$1" = "$2" ] || fail "$3: wanted '$1', got '$2'"
}

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/install.XXXXXX")
prefix=$work/moved/to/here
mkdir -p "$prefix"
# Bazel's sandbox shows each file as a link to where it really is; there the links are our own.
tree=$(dirname "$(dirname "$(realpath "$1/lib/libmpi_abi.so.1")")")
cp -RP "$tree/." "$prefix/"
chmod -R u+w "$prefix"
# Nothing of the tree in which it was built may be found.
unset LD_LIBRARY_PATH PKG_CONFIG_PATH CPATH LIBRARY_PATH
export HOME=$work
