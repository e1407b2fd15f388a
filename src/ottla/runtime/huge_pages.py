"""A process's objects in huge pages.

An interpreter touches many small objects all over its memory, and where it has not been for a few
milliseconds the processor has forgotten both what they hold and where they are. On a virtual
machine finding a page again takes up to two dozen reads. In huge pages there are few to find: a
request that comes after a pause was seen to take a fifth less.

Linux does this by itself only where it is told to, and for memory that is mapped in one piece, as
Python's is not. So it is asked afterwards, for what is in use already: nothing moves for those who
use it, and little memory is added.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import BinaryIO

_HUGE_BYTES = 2 << 20
# Since Linux 6.1. The kernel refuses what it does not know, and nothing has happened then.
_MADV_COLLAPSE = 25
# Of the pages of a huge one: what is not used yet would be from then on.
_USED_SHARE_MIN = 0.75
_PRESENT = 1 << 63
_ENTRY_BYTES = 8


def gather_memory() -> int:
    """Puts the memory of this process that is mostly in use into huge pages, as far as the system
    has any, and returns how many there are. Takes some milliseconds; other threads go on."""
    collapse = _collapse()
    try:
        with open("/proc/self/maps") as maps, open("/proc/self/pagemap", "rb") as pages:
            starts = list(huge_starts(maps))
            return sum(
                collapse(start) for start in starts if _used_share(pages, start) >= _USED_SHARE_MIN
            )
    except OSError:
        # Not Linux, or a sandbox that does not show it.
        return 0


def huge_starts(maps: Iterable[str]) -> Iterator[int]:
    """Where huge pages would begin, by the lines of a process's map: in memory of its own that it
    can write to."""
    for line in maps:
        addresses, rights, _, _, inode, *name = line.split()
        if not rights.startswith("rw-p") or inode != "0" or name not in ([], ["[heap]"]):
            continue
        start, end = (int(address, 16) for address in addresses.split("-"))
        first = (start + _HUGE_BYTES - 1) // _HUGE_BYTES * _HUGE_BYTES
        yield from range(first, end - _HUGE_BYTES + 1, _HUGE_BYTES)


def _used_share(pages: BinaryIO, start: int) -> float:
    count = _HUGE_BYTES // mmap.PAGESIZE
    pages.seek(start // mmap.PAGESIZE * _ENTRY_BYTES)
    entries = array("Q", pages.read(count * _ENTRY_BYTES))
    return sum(entry >= _PRESENT for entry in entries) / count


@cache
def _collapse() -> Callable[[int], bool]:
    """The C library's call for one huge page; says whether it is one now."""
    import ctypes  # Takes 5 ms to import, and nobody waits for this.

    library = ctypes.CDLL(None)
    library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return lambda start: not library.madvise(start, _HUGE_BYTES, _MADV_COLLAPSE)
