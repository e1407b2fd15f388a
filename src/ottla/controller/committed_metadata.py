"""The image of the committed metadata, and the appended records that are not committed yet.

    appended ──committed──▶ applied, listeners notified
        └──truncated──▶ dropped

Only the active controller sees more than this image. It never shows a record that could be undone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from ottla.controller.record_batches import DecodedBatch
from ottla.metadata import MetadataDelta, MetadataReplay
from ottla.metadata.difference import difference
from ottla.raft import ControlRecord
from ottla.wire.schema import Message

# Called after each commit with its changes, which the image already shows. Must not block.
Listener: TypeAlias = Callable[[MetadataDelta], None]


class _Appended(NamedTuple):
    """The records of a batch in the log that may not be committed yet."""

    end_offset: int
    records: Sequence[Message]


class CommittedMetadata:
    """Owned by `MetadataQuorum`, read by everything on the node's loop."""

    def __init__(self, replay: MetadataReplay, *, end_offset: int) -> None:
        self._replay = replay
        # Changed in place, because every request reads it.
        self.image = replay.image
        # The offset after the last committed record.
        self.end_offset = end_offset
        self._appended: deque[_Appended] = deque()
        # Increases whenever the uncommitted records change.
        self.revision = 0
        self._listeners: list[Listener] = []

    @property
    def is_in_transaction(self) -> bool:
        """Whether a transaction has begun in the committed records and has not ended; the image
        lacks its records."""
        return self._replay.is_in_transaction

    def replay_appended(self) -> MetadataReplay:
        """A copy of the image with all appended records applied."""
        replay, delta = self._replay.copy(), MetadataDelta()
        for _, records in self._appended:
            replay.take(records, delta)
        return replay

    def uncommitted_records(self) -> Iterator[Message]:
        """The records that may not be committed yet, in order."""
        for _, records in self._appended:
            yield from records

    def listen(self, listener: Listener) -> None:
        """Registers a listener that is called after each commit."""
        self._listeners.append(listener)

    def appended(self, end_offset: int, records: Sequence[Message]) -> None:
        """Records were appended to the log as one batch, which ends at `end_offset`."""
        self.revision += 1
        self._appended.append(_Appended(end_offset, records))

    def batch_appended(self, batch: DecodedBatch) -> list[ControlRecord]:
        """The same for a batch of any kind. Control records are not part of the image; they are
        returned."""
        if not batch.header.is_control:
            self.appended(batch.header.next_offset, batch.records)
            return []
        start = batch.header.base_offset
        return [ControlRecord(start + at, record) for at, record in enumerate(batch.records)]

    def truncated(self, offset: int) -> None:
        self.revision += 1
        while self._appended and self._appended[-1].end_offset > offset:
            self._appended.pop()

    def commit(self, offset: int) -> None:
        """Applies appended records below an offset. Raises `MetadataError` for an invalid
        record."""
        delta = MetadataDelta()
        self.revision += 1
        while self._appended and self._appended[0].end_offset <= offset:
            self._replay.take(self._appended.popleft().records, delta)
        self.end_offset = max(self.end_offset, offset)
        self._notify_listeners(delta)

    def replace(self, replay: MetadataReplay, *, end_offset: int) -> None:
        """Continues with the image of a snapshot, which has a later offset."""
        before, self._replay, self.image = self.image, replay, replay.image
        self.end_offset = end_offset
        self._appended.clear()
        self.revision += 1
        self._notify_listeners(difference(before, replay.image))

    def _notify_listeners(self, delta: MetadataDelta) -> None:
        if not delta.is_empty:
            for listener in self._listeners:
                listener(delta)
