"""A sync of a whole file system, which Python has no function for.

Every sync of a file costs a flush of the device, even if it finds nothing to write: ten thousand
files take a minute, and their file system as a whole a second. Since Linux 5.8 an error of writing
anything back is reported here as it is by a sync of the file.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache


def sync_file_system(descriptor: int) -> bool:
    """Makes everything durable on the file system that holds an open file. False where the system
    has no such call, and nothing was done."""
    error = _syncfs()(descriptor)
    if error == errno.ENOSYS:
        return False
    if error:
        raise OSError(error, os.strerror(error))
    return True


@cache
def _syncfs() -> Callable[[int], int]:
    """The C library's call; it answers with an error number or 0."""
    import ctypes  # Takes 5 ms to import, and a node with few partitions does without.

    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "syncfs"):
        return lambda _descriptor: errno.ENOSYS
    library.syncfs.argtypes = (ctypes.c_int,)

    def call(descriptor: int) -> int:
        return ctypes.get_errno() if library.syncfs(descriptor) else 0

    return call
