"""Files with secrets that other users of this host can read or replace."""

from __future__ import annotations

import os
from stat import S_IROTH, S_IWGRP, S_IWOTH
from typing import Final

# The group may read: services share keys in this way.
_EXPOSED: Final = S_IROTH | S_IWOTH | S_IWGRP


def exposed_file_warning(path: str, what: str) -> str | None:
    """None for a file that its owner keeps private, and for one that cannot be looked at. `what`
    names the file."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return None
    if not mode & _EXPOSED:
        return None
    return f"other users of this host can read or replace {what} {path}; run: chmod 600 {path}"
