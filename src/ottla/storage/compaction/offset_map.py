"""The newest offset of every key in the dirty part of a log, in bounded memory.

The first pass of a compaction fills the map; the second looks up every record. When the map is
full, the first pass stops: the log is cleaned up to that offset, and the next compaction continues
from there.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import blake2b
from typing import Final

from ottla.wire.errors import ProtocolError
from ottla.wire.records.header import BatchHeader
from ottla.wire.records.record import walk_records

# In CPython a 47-byte key, such as a UUID in text, takes as much memory as a 32-byte key.
KEY_BYTES_MAX: Final = 47

# The most memory that CPython needs for an entry: 96 bytes for the key or its digest, 32 for the
# offset, and 90 for a slot in a table that has just doubled, including the old table.
ENTRY_BYTES_MAX: Final = 218


class OffsetMap:
    """Covers the log up to `latest_offset`, which is -1 while the map is empty."""

    __slots__ = ("_entries_max", "latest_offset", "offsets")

    def __init__(self, *, memory_bytes: int) -> None:
        assert memory_bytes >= ENTRY_BYTES_MAX, "without room for one key there is no progress"
        self._entries_max = memory_bytes // ENTRY_BYTES_MAX
        # By `key_identity`.
        self.offsets: dict[bytes, int] = {}
        self.latest_offset = -1

    def add(self, header: BatchHeader, body: bytes, *, start_offset: int) -> bool:
        """Adds a batch's records from an offset on. Returns whether all of them fitted.

        Raises `ProtocolError` if the batch cannot be read to the end; then it adds none of them.
        """
        try:
            return self._add(header, body, start_offset=start_offset)
        except ProtocolError:
            self._forget(header, body)
            raise

    def leave_out(self, header: BatchHeader) -> None:
        """Skips a batch that cannot be opened."""
        self.latest_offset = header.last_offset

    def _add(self, header: BatchHeader, body: bytes, *, start_offset: int) -> bool:
        offsets, entries_max = self.offsets, self._entries_max
        start_delta = start_offset - header.base_offset
        base_offset, last_offset_delta = header.base_offset, header.last_offset_delta
        records = walk_records(body, header.record_count)
        for _, _, _, offset_delta, key, _, _ in records:
            if offset_delta > last_offset_delta:
                raise ProtocolError(
                    f"a record has the offset delta {offset_delta}, which is outside of its batch"
                )
            if key is None or offset_delta < start_delta:
                continue
            if len(key) > KEY_BYTES_MAX:
                key = key_identity(key)
            if len(offsets) >= entries_max and key not in offsets:
                # Reads the rest as well: if it is unreadable, none of the batch's records count.
                for _ in records:
                    pass
                # Everything before this record is covered.
                self.latest_offset = max(self.latest_offset, base_offset + offset_delta - 1)
                return False
            offsets[key] = base_offset + offset_delta
        self.latest_offset = header.last_offset
        return True

    def _forget(self, header: BatchHeader, body: bytes) -> None:
        """Removes the keys of a batch, as far as it can be read. Earlier records of these keys are
        then kept, which is more than necessary but loses nothing."""
        with suppress(ProtocolError):
            for _, _, _, _, key, _, _ in walk_records(body, header.record_count):
                if key is not None:
                    known = key_identity(key)
                    if self.offsets.get(known, -1) >= header.base_offset:
                        del self.offsets[known]


def key_identity(key: bytes) -> bytes:
    """The key, or its digest if the key is long. A digest is longer than any key that is used as it
    is, so the two cannot be confused."""
    if len(key) <= KEY_BYTES_MAX:
        return key
    return blake2b(key, digest_size=KEY_BYTES_MAX + 1).digest()
