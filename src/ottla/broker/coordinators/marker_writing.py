"""The markers of one transaction while they are being written, and WriteTxnMarkers requests."""

from __future__ import annotations

from itertools import groupby
from typing import Final, NamedTuple, Protocol

from ottla.coordinator.runtime.transactional import TransactionMarker
from ottla.coordinator.transactions.markers import TransactionMarkers
from ottla.model import TopicPartition
from ottla.runtime.dice import Dice
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

_RETRY_MS_FIRST: Final = 10
_RETRY_MS_MAX: Final = 200
_RETRY_JITTER: Final = 0.2


class MarkerOwner(Protocol):
    """The coordinator whose markers are written: `ShardMarkers`."""

    @property
    def is_closed(self) -> bool: ...

    @property
    def coordinator_epoch(self) -> int: ...

    def finished(self, markers: TransactionMarkers) -> None: ...


class MarkerPart(NamedTuple):
    """Partitions of one transaction that have the same leader."""

    writing: MarkerWriting
    partitions: list[TopicPartition]
    attempts: int = 0

    def next_retry_ms(self, dice: Dice) -> float:
        doubled = min(_RETRY_MS_FIRST << min(self.attempts, 10), _RETRY_MS_MAX)
        return dice.jitter(doubled, fraction=_RETRY_JITTER)


class MarkerWriting:
    """Tracks the partitions that still lack their marker. Owned by the sender."""

    __slots__ = ("_is_done", "_left", "markers", "shard")

    def __init__(self, shard: MarkerOwner, markers: TransactionMarkers) -> None:
        self.shard = shard
        self.markers = markers
        self._left = set(markers.partitions)
        self._is_done = False

    @property
    def is_over(self) -> bool:
        return self._is_done or self.shard.is_closed

    def settle(self, name: TopicPartition) -> None:
        self._left.discard(name)

    def give_up(self) -> None:
        self._is_done = True

    def maybe_finish(self) -> None:
        if not self._left and not self._is_done:
            self._is_done = True
            self.shard.finished(self.markers)

    def marker(self) -> TransactionMarker:
        """The marker to append to partitions of this node."""
        markers = self.markers
        return TransactionMarker(
            markers.producer_id,
            markers.producer_epoch,
            self.shard.coordinator_epoch,
            markers.is_commit,
            markers.transaction_version,
        )


def markers_request(parts: list[MarkerPart]) -> WriteTxnMarkersRequest:
    return WriteTxnMarkersRequest(markers=[_marker(part) for part in parts])


def _marker(part: MarkerPart) -> WritableTxnMarker:
    markers = part.writing.markers
    return WritableTxnMarker(
        producer_id=markers.producer_id,
        producer_epoch=markers.producer_epoch,
        transaction_result=markers.is_commit,
        topics=[
            WritableTxnMarkerTopic(
                name=topic, partition_indexes=[each.partition for each in of_topic]
            )
            for topic, of_topic in groupby(part.partitions, lambda each: each.topic)
        ],
        coordinator_epoch=part.writing.shard.coordinator_epoch,
        transaction_version=markers.transaction_version,
    )
