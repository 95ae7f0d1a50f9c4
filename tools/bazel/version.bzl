# SPDX-License-Identifier: BSD-3-Clause
"""The one place that holds the version of Patchbay MPI, and the day of it; docs/versioning.md describes when they change."""

VERSION = "0.1.0"
VERSION_DATE = "2026-11-22"
