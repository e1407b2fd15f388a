"""Order by key within a share group: the records of one key are with one member at a time.

A member may take a record if it holds all earlier records of that key that are not done. Records
without a key have no order. Keys are learned when records are read, so nothing is taken before its
key and those of earlier records are known.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.shares.delivery import BatchOffsets
from ottla.shares.in_flight import RecordsInFlight


class KeyOrder:
    """Owned by a share partition's leader. `begin` starts an acquisition; within it, records are
    asked for in the order of their offsets."""

    def __init__(self, partition: RecordsInFlight) -> None:
        self._partition = partition
        self._keys: dict[int, bytes | None] = {}
        self._offsets: dict[bytes, list[int]] = {}
        # Of the present acquisition: the offsets that were taken, and for each key how many of its
        # offsets are checked, or None if the member may not take any more.
        self._taken: set[int] = set()
        self._checked: dict[bytes, int | None] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def learn(
        self, spans: Iterable[BatchOffsets], keys: Iterable[tuple[int, bytes | None]]
    ) -> None:
        """The keys of the records in batches that were read, in their order. Other offsets in the
        batches have no record, or one without a key. Gaps between them are not learned: they may
        be long, and are archived."""
        for offset, key in keys:
            if offset in self._keys or offset < self._partition.start_offset:
                continue
            self._keys[offset] = key
            if key is not None:
                offsets = self._offsets.setdefault(key, [])
                offsets.append(offset)
                if len(offsets) > 1 and offsets[-2] > offset:
                    offsets.sort()
        for span in spans:
            for offset in range(max(span.first, self._partition.start_offset), span.last + 1):
                self._keys.setdefault(offset, None)

    def first_unknown(self) -> int | None:
        """The first available record whose key is not known."""
        for run in self._partition.runs:
            if run.is_free:
                for offset in range(run.first, run.last + 1):
                    if offset not in self._keys:
                        return offset
        return None

    def begin(self) -> None:
        self._taken.clear()
        self._checked.clear()
        start = self._partition.start_offset
        for offset in [offset for offset in self._keys if offset < start]:
            key = self._keys.pop(offset)
            if key is not None:
                offsets = self._offsets[key]
                offsets.remove(offset)
                if not offsets:
                    del self._offsets[key]

    def may_take(self, offset: int, member_id: str) -> bool:
        key = self._keys.get(offset)
        if key is None:
            return True
        offsets, at = self._offsets[key], self._checked.get(key, 0)
        while at is not None and offsets[at] < offset:
            at = at + 1 if self._is_passed(offsets[at], member_id) else None
        self._checked[key] = at
        return at is not None

    def taken(self, offset: int, member_id: str) -> None:  # noqa: ARG002 - as TakeOrder has it
        self._taken.add(offset)

    def _is_passed(self, offset: int, member_id: str) -> bool:
        """Whether the record is done or with this member."""
        if offset in self._taken:
            return True
        for run in self._partition.runs.between(offset, offset):
            return run.is_done or run.is_held_by(member_id)
        return offset < self._partition.start_offset
