#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One test of tools/programs: run.sh TEST.PY PROGRAMS.PY CONFORMANCE.PY [ARGUMENT]...
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$@"
