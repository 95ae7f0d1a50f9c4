#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The smoke size of `./dev programs`: HYPRE's structured solvers and a few jobs of its own: hypre_test.sh COMMON PROGRAMS PREFIX.
set -euo pipefail
. "$1"
programs=$(realpath "$2")
prefix=$(cd "$3" && pwd)
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/programs.XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -B "$programs" --prefix "$prefix" --work "$work" --smoke hypre | sed '/^$/d'
