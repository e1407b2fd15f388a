"""A held record in the queue of a partition, and where its bytes are."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple


class DueEntry(NamedTuple):
    """Ordered by due time, then by offset. The bytes are in the file of the segment that has the
    offset; their checksum is needed because a batch's own is not read again. A size of -1 takes the
    record out of the queue: it was released."""

    due_ms: int
    offset: int
    size: int = -1
    position: int = -1
    timestamp: int = -1
    checksum: int = 0

    @property
    def is_removal(self) -> bool:
        return self.size < 0


entry_struct: Final = struct.Struct(">qqiqqI")
ENTRY_BYTES: Final = entry_struct.size
