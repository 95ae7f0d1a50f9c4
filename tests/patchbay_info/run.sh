#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# run.sh PREFIX TEST
. "$(dirname "$0")/../install/common.sh"
python3 "$2" "$prefix"
