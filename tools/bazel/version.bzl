# SPDX-License-Identifier: BSD-3-Clause
"""The version of Patchbay MPI and its date, defined only here; docs/versioning.md describes when they change."""

VERSION = "0.1.0"
VERSION_DATE = "2026-11-22"
