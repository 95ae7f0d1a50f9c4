# SPDX-License-Identifier: BSD-3-Clause
"""The one place that holds the version of Patchbay MPI."""

VERSION = "0.1.0"
