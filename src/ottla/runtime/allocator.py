"""Memory that is used again and again, kept instead of given back to the kernel each time."""

from __future__ import annotations

# glibc raises its threshold for mapping memory anew to the largest block that was ever freed, up to
# 32 MB, and keeps twice as much on its heap.
_LARGEST_BLOCK_BYTES = 31 << 20


def keep_freed_memory() -> None:
    """Call once in a process that moves megabytes: batches, frames, columns.

    By default every large buffer is mapped anew, and the kernel zeroes its pages one fault at a
    time, which costs more than filling them. Nothing is held by this: only what was used stays.
    """
    bytearray(_LARGEST_BLOCK_BYTES)
