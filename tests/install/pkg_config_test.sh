#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# pkg-config finds a tree that has been moved: pkg_config_test.sh PREFIX
. "$(dirname "$0")/common.sh"
cd "$work"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig

version=$(pkg-config --modversion patchbay-mpi)
expect "$version" "$(pkg-config --modversion mpi_abi)" 'version of mpi_abi'
expect "$version" "$(pkg-config --modversion patchbay-plugin)" 'version of patchbay-plugin'
expect "$(realpath "$prefix/lib/patchbay")" "$(realpath "$(pkg-config --variable=plugindir patchbay-plugin)")" plugindir

cat >program.c <<'END'
#include <mpi.h>
int main(void) {
    int flag;
    return MPI_Initialized(&flag) != MPI_SUCCESS || flag;
}
END
for module in mpi_abi patchbay-mpi; do
    # shellcheck disable=SC2046
    gcc -Wall -Werror program.c -o "$module" $(pkg-config --cflags --libs "$module")
    "./$module" || fail "program built with $module"
done
