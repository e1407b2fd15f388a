"""Memory that stays: kept for the next use, or left alone by the garbage collector."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# glibc raises its threshold for mapping memory anew to the largest block that was ever freed, up to
# 32 MB, and keeps twice as much on its heap.
_LARGEST_BLOCK_BYTES = 31 << 20


def keep_freed_memory() -> None:
    """Call once in a process that moves megabytes: batches, frames, columns.

    By default every large buffer is mapped anew, and the kernel zeroes its pages one fault at a
    time, which costs more than filling them. Nothing is held by this: only what was used stays.
    """
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    # Takes a block of this size and frees it, untouched. Filling one would take 10 ms.
    with suppress(BlockingIOError):
        os.read(readable, _LARGEST_BLOCK_BYTES)
    os.close(readable)
    os.close(writable)


@contextmanager
def lasting_objects() -> Iterator[None]:
    """For work that makes objects by the hundred thousand which live as long as the process does.

    The collector would walk them again and again while they are made, and ever after, and find no
    garbage among them. So it rests meanwhile, and leaves them alone from then on.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
