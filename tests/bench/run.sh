#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
exec python3 "$@"
