#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One test of tools/conformance: run.sh TEST.PY CONFORMANCE.PY [ARGUMENT]...
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$@"
