# SPDX-License-Identifier: BSD-3-Clause
"""What the environment variables say about a run of a tool."""
import os
from pathlib import Path


def cache_folder(tool):
    """Where a tool keeps what it has fetched and built, unless it is told another place."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "patchbay" / tool


def is_ci():
    return os.environ.get("CI", "").lower() in ("true", "1", "yes")
