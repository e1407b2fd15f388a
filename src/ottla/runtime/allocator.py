"""Keeps freed memory for reuse, and excludes long-lived objects from garbage collection."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# When a mapped block is freed, glibc raises its threshold for mapping memory to the block's size,
# up to 32 MB, and its threshold for trimming the heap to twice that.
_LARGEST_BLOCK_BYTES = 31 << 20


def keep_freed_memory() -> None:
    """Call once in a process that moves megabytes: batches, frames, columns.

    By default every large buffer is mapped anew, and the kernel zeroes its pages one fault at a
    time, which costs more than filling them. The call itself reserves no memory; only memory that
    was used is kept.
    """
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    # Allocates a block of this size and frees it untouched. Filling it would take 10 ms.
    with suppress(BlockingIOError):
        os.read(readable, _LARGEST_BLOCK_BYTES)
    os.close(readable)
    os.close(writable)


@contextmanager
def lasting_objects() -> Iterator[None]:
    """For work that creates hundreds of thousands of objects that live as long as the process.

    The garbage collector would scan them repeatedly, during the work and ever after, and never free
    any. So it is disabled during the work and ignores these objects afterwards.
    """
    gc.disable()
    try:
        yield
    finally:
        exclude_present_objects()
        gc.enable()


def exclude_present_objects() -> None:
    """Excludes all objects that exist now from garbage collections, which then take less time.

    Reference counting frees them as before, but cycles among them stay forever. So call it when
    most of them last as long as the process, and not again and again.
    """
    gc.freeze()
