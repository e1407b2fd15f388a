"""The directory of generated files that can be deleted at any time."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """This user's cache directory, by the XDG rules. It may not exist yet."""
    given = os.environ.get("XDG_CACHE_HOME")
    return (Path(given) if given else Path.home() / ".cache") / "ottla"
