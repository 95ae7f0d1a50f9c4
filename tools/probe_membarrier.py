# SPDX-License-Identifier: BSD-3-Clause
"""Exit status 0 when the kernel offers MEMBARRIER_CMD_GLOBAL_EXPEDITED."""
import ctypes
import platform
import sys

NUMBERS = {"x86_64": 324, "aarch64": 283, "ppc64le": 365, "riscv64": 283}
QUERY = 0
GLOBAL_EXPEDITED = 1 << 1

number = NUMBERS.get(platform.machine())
offered = ctypes.CDLL(None).syscall(number, QUERY, 0, 0) if number else -1
sys.exit(0 if offered > 0 and offered & GLOBAL_EXPEDITED else 1)
