"""Warns about files that other users of the host can read or replace: secrets, and files that say
whom the node trusts."""

from __future__ import annotations

import logging
import os
from stat import S_IROTH, S_IWGRP, S_IWOTH
from typing import Final

_log = logging.getLogger(__name__)

_READABLE: Final = S_IROTH | S_IWGRP | S_IWOTH


def warn_if_readable(path: str, *, what: str) -> None:
    """For a file with a secret."""
    if _mode(path) & _READABLE:
        _log.warning(
            "other users of this host can read or replace the %s %s; run: chmod 600 %s",
            what,
            path,
            path,
        )


def warn_if_replaceable(path: str, *, what: str) -> None:
    """For a file without secrets that decides whom the node trusts."""
    if _mode(path) & S_IWOTH:
        _log.warning(
            "other users of this host can replace the %s %s; run: chmod o-w %s", what, path, path
        )


def _mode(path: str) -> int:
    """0 for a file that does not exist: its reader reports that."""
    try:
        return os.stat(path).st_mode
    except OSError:
        return 0
