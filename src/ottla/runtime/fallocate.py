"""Reserves space for a file without changing its size.

Python only has `posix_fallocate`, which extends the file; truncating it again releases the space.
Linux's `fallocate` can keep the size; it is called through the C library.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache

_KEEP_SIZE = 0x01


def reserve(descriptor: int, size: int) -> None:
    """Reserves space up to `size`. Does nothing if the file system does not support it."""
    allocate = _fallocate()
    while size > 0:
        error = allocate(descriptor, size)
        if error in (0, errno.EOPNOTSUPP, errno.ENOSYS):
            return
        if error != errno.EINTR:
            raise OSError(error, os.strerror(error))


@cache
def _fallocate() -> Callable[[int, int], int]:
    """The C library's call. Returns an error number or 0."""
    import ctypes  # Takes 5 ms to import, and many processes never preallocate.

    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "fallocate"):
        return lambda _descriptor, _size: errno.ENOSYS
    library.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)

    def call(descriptor: int, size: int) -> int:
        failed = library.fallocate(descriptor, _KEEP_SIZE, 0, size)
        return ctypes.get_errno() if failed else 0

    return call
