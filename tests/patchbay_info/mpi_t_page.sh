#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi_t_page.sh PREFIX PROGRAM PAGE
. "$(dirname "$0")/../install/common.sh"
python3 "$2" "$prefix/bin/patchbay-info" "$3" --check
