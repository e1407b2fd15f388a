"""Where things are kept that are made once and could be made again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """Of this user, by the rules of XDG. It may not be there yet."""
    given = os.environ.get("XDG_CACHE_HOME")
    return (Path(given) if given else Path.home() / ".cache") / "ottla"
