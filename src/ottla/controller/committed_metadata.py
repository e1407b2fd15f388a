"""What the quorum has agreed on, as an image, and what this replica has beyond that.

    appended ──committed──▶ applied, listeners told
        └──truncated──▶ forgotten

Everybody but the active controller sees this image only: nothing that could be taken back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from ottla.controller.record_batches import DecodedBatch
from ottla.metadata import MetadataDelta, MetadataReplay
from ottla.metadata.difference import difference
from ottla.raft import ControlRecord
from ottla.wire.schema import Message

# Called after each commit with what it changed; the image shows it. Must not wait.
Listener: TypeAlias = Callable[[MetadataDelta], None]


class _Appended(NamedTuple):
    """The records of a batch in the log that may not be committed yet."""

    end_offset: int
    records: Sequence[Message]


class CommittedMetadata:
    """Owned by the quorum's driver, read by everybody on the node's loop."""

    def __init__(self, replay: MetadataReplay, *, end_offset: int) -> None:
        self._replay = replay
        # Changed in place. Every request asks for it.
        self.image = replay.image
        # The offset after the last record that the image shows.
        self.end_offset = end_offset
        self._appended: deque[_Appended] = deque()
        self._listeners: list[Listener] = []

    @property
    def is_in_transaction(self) -> bool:
        """Whether the image lacks the beginning of a transaction that is committed already."""
        return self._replay.is_in_transaction

    def replay_appended(self) -> MetadataReplay:
        """Another image, which shows everything that was appended."""
        replay, delta = self._replay.copy(), MetadataDelta()
        for _, records in self._appended:
            replay.take(records, delta)
        return replay

    def listen(self, listener: Listener) -> None:
        """Has a listener called after each commit from now on."""
        self._listeners.append(listener)

    def appended(self, end_offset: int, records: Sequence[Message]) -> None:
        """The log has these records now, a batch that ends at an offset."""
        self._appended.append(_Appended(end_offset, records))

    def batch_appended(self, batch: DecodedBatch) -> list[ControlRecord]:
        """The same for a batch of any kind. Control records are none of the image's, and are
        returned."""
        if not batch.header.is_control:
            self.appended(batch.header.next_offset, batch.records)
            return []
        start = batch.header.base_offset
        return [ControlRecord(start + at, record) for at, record in enumerate(batch.records)]

    def truncated(self, offset: int) -> None:
        while self._appended and self._appended[-1].end_offset > offset:
            self._appended.pop()

    def commit(self, offset: int) -> None:
        """Shows what was appended below an offset. Raises `MetadataError` for what cannot be."""
        delta = MetadataDelta()
        while self._appended and self._appended[0].end_offset <= offset:
            self._replay.take(self._appended.popleft().records, delta)
        self.end_offset = max(self.end_offset, offset)
        self._tell(delta)

    def replace(self, replay: MetadataReplay, *, end_offset: int) -> None:
        """Goes on with the image of a snapshot, which is further than this one."""
        before, self._replay, self.image = self.image, replay, replay.image
        self.end_offset = end_offset
        self._appended.clear()
        self._tell(difference(before, replay.image))

    def _tell(self, delta: MetadataDelta) -> None:
        if not delta.is_empty:
            for listener in self._listeners:
                listener(delta)
