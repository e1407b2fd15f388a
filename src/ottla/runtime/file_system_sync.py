"""Syncs a whole file system (`syncfs`), for which Python has no function.

Every file sync costs a device flush, even if nothing is dirty: ten thousand files take a minute,
their whole file system a second. Since Linux 5.8 `syncfs` reports writeback errors as a file sync
does.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache


def sync_file_system(descriptor: int) -> bool:
    """Makes everything durable on the file system of an open file. Returns False, without effect,
    if the system lacks `syncfs`."""
    error = _syncfs()(descriptor)
    if error == errno.ENOSYS:
        return False
    if error:
        raise OSError(error, os.strerror(error))
    return True


@cache
def _syncfs() -> Callable[[int], int]:
    """The C library's call. Returns an error number or 0."""
    import ctypes  # Takes 5 ms to import, and a node with few partitions does without.

    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "syncfs"):
        return lambda _descriptor: errno.ENOSYS
    library.syncfs.argtypes = (ctypes.c_int,)

    def call(descriptor: int) -> int:
        return ctypes.get_errno() if library.syncfs(descriptor) else 0

    return call
