"""Room for a file that is still to be written, without changing its size.

Python has only `posix_fallocate`, which makes the file longer, and truncating it back gives the
room away again. Linux's own call keeps the size; it is reached through the C library.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache

_KEEP_SIZE = 0x01


def reserve(descriptor: int, size: int) -> None:
    """Reserves room up to `size`; does nothing where the file system cannot."""
    allocate = _fallocate()
    while size > 0:
        error = allocate(descriptor, size)
        if error in (0, errno.EOPNOTSUPP, errno.ENOSYS):
            return
        if error != errno.EINTR:
            raise OSError(error, os.strerror(error))


@cache
def _fallocate() -> Callable[[int, int], int]:
    """The C library's call; it answers with an error number or 0."""
    import ctypes  # Takes 5 ms to import, and many processes never preallocate.

    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "fallocate"):
        return lambda _descriptor, _size: errno.ENOSYS
    library.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)

    def call(descriptor: int, size: int) -> int:
        failed = library.fallocate(descriptor, _KEEP_SIZE, 0, size)
        return ctypes.get_errno() if failed else 0

    return call
