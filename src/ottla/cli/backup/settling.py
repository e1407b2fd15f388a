"""Which transactions are in a backup, and what is left out of the copied partitions.

A backup is a consistent cut of a cluster that serves. After the bulk of the data is copied, the
partitions are copied up to ends that are read in this order:

1. every partition of `__transaction_state`,
2. every partition of `__consumer_offsets`,
3. every other partition.

A transaction is in the backup if its decision (PrepareCommit or PrepareAbort) is below the ends of
(1). Invariants:

- Each transaction is in the backup as a whole or not at all. A producer ends a transaction only
  after all its records and offset commits are acknowledged, so those of a decided transaction are
  below the ends of (2) and (3).
- Everything else of transactions is left out: `erasures` returns their batches and markers, and a
  restore writes empty batches instead of them, as compaction does. Every other batch keeps its
  offset, and every log keeps its end. The batches must go, not only be aborted: with TransactionV2
  their producer epochs may be above those that the copied `__transaction_state` knows, and the
  restored leaders would refuse the batches of the transactional id's next producer.
- A decided transaction may lack markers. Its state is then PrepareCommit or PrepareAbort, and the
  transaction coordinator of the restored cluster writes its markers, as after any failover.
- A committed offset never points past the end of the partition that it is for, because (3) follows
  (2).

The ends are those of ListOffsets, which a new leader returns only when its high watermark has
reached the start of its epoch (KIP-207), so they never go back.

How a partition's batches are matched with decisions: a producer's epochs only increase, and the
record of a decision has the epoch of its markers. So a marker with a lower epoch than the producer
has at (1) is decided, and one with a higher epoch is not. With TransactionV2, each transaction has
markers of its own epoch. With the older protocol many transactions have the same epoch; those are
counted. `anchor` is a moment at which the producer had no decision whose markers were being
written: the Nth commit marker after it belongs to the Nth decision after it that contains the
partition. Markers that abort a transaction without a new epoch need not be matched: their
transaction leaves nothing behind either way.

What this does not guarantee: the partitions of `__transaction_state` are read at the same time, but
not at the same instant. If a transaction reads the results of another one that was decided some
milliseconds before it, in this very interval, then only the later one may be in the backup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ottla.model import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, TopicPartition
from ottla.wire.records.builder import empty_batch
from ottla.wire.records.header import CONTROL_FLAG, TRANSACTIONAL_FLAG, BatchHeader

_END: Final = 2**63 - 1


class OpenedTransaction(NamedTuple):
    """A transaction without a marker at the end of a partition."""

    producer_id: int
    producer_epoch: int
    first_offset: int


class EndedTransaction(NamedTuple):
    """A marker, with the transaction that it ends. If there was none, `first_offset` is the
    marker's own offset and `producer_epoch` the marker's."""

    producer_id: int
    producer_epoch: int
    marker_epoch: int
    first_offset: int
    marker_offset: int
    is_commit: bool

    @property
    def has_data(self) -> bool:
        return self.first_offset < self.marker_offset


class CutAnchor(NamedTuple):
    """The ends of the partitions at the anchor, and the number of decisions since then to commit a
    transaction, by partition."""

    ends: Mapping[TopicPartition, int]
    commits: Counter[TopicPartition]


class ProducerAtCut(NamedTuple):
    """A producer in `__transaction_state` at (1). `has_own_epochs`: whether its last transaction
    was one of TransactionV2. `committing` has the partitions of its transaction if the state is
    PrepareCommit."""

    producer_epoch: int
    has_own_epochs: bool
    committing: frozenset[TopicPartition]
    anchor: CutAnchor | None


class DecisionsAtCut(NamedTuple):
    """`replaced` are producer ids that transactional ids no longer have: all their transactions are
    decided. `ends` are those of the partitions at a moment before (1): markers below them are
    decided."""

    producers: Mapping[int, ProducerAtCut]
    replaced: frozenset[int]
    ends: Mapping[TopicPartition, int]


class Erasure(NamedTuple):
    """The batches of a transaction that is not in the backup; both offsets are inclusive."""

    producer_id: int
    first_offset: int
    last_offset: int


class UndecidableError(Exception):
    """A producer has no anchor, and a commit marker that has to be counted."""

    def __init__(self, producer_id: int) -> None:
        super().__init__(f"no pause between the transactions of producer {producer_id}")
        self.producer_id = producer_id


class TransactionScan:
    """The transactions of one partition. Takes its batches in the order of their offsets."""

    def __init__(self, opened: Iterable[OpenedTransaction] = ()) -> None:
        self.opened = {each.producer_id: each for each in opened}
        self.ended: list[EndedTransaction] = []
        # Only the markers since the cut began are needed.
        self.keeps_ended = False
        self.producer_id_max: int = NO_PRODUCER_ID

    def take(self, header: BatchHeader, *, is_commit: bool = False) -> None:
        """`is_commit` is for markers."""
        producer_id = header.producer_id
        self.producer_id_max = max(self.producer_id_max, producer_id)
        if not header.is_transactional:
            return
        if not header.is_control:
            if producer_id not in self.opened:
                self.opened[producer_id] = OpenedTransaction(
                    producer_id, header.producer_epoch, header.base_offset
                )
            return
        opened = self.opened.pop(producer_id, None)
        if self.keeps_ended:
            self.ended.append(_ended(header, opened, is_commit=is_commit))


def _ended(
    marker: BatchHeader, opened: OpenedTransaction | None, *, is_commit: bool
) -> EndedTransaction:
    return EndedTransaction(
        marker.producer_id,
        marker.producer_epoch if opened is None else opened.producer_epoch,
        marker.producer_epoch,
        marker.base_offset if opened is None else opened.first_offset,
        marker.base_offset,
        is_commit,
    )


def erasures(
    partition: TopicPartition,
    ended: Iterable[EndedTransaction],
    opened: Iterable[OpenedTransaction],
    decisions: DecisionsAtCut,
) -> list[Erasure]:
    """The transactions of a partition that are not in the backup, with its markers since before the
    anchors. Raises `UndecidableError`."""
    found = []
    counted: Counter[int] = Counter()
    for each in ended:
        if not _is_decided(partition, each, decisions, counted):
            found.append(Erasure(each.producer_id, each.first_offset, each.marker_offset))
    for left in opened:
        if not _is_committing(partition, left, decisions, counted):
            found.append(Erasure(left.producer_id, left.first_offset, _END))
    return found


def _is_decided(
    partition: TopicPartition,
    ended: EndedTransaction,
    decisions: DecisionsAtCut,
    counted: Counter[int],
) -> bool:
    is_early = ended.marker_offset < decisions.ends.get(partition, 0)
    producer = decisions.producers.get(ended.producer_id)
    if producer is None:
        return is_early or ended.producer_id in decisions.replaced
    if ended.marker_epoch != producer.producer_epoch:
        return ended.marker_epoch < producer.producer_epoch
    if ended.marker_epoch != ended.producer_epoch or not (ended.is_commit and ended.has_data):
        return True
    if producer.anchor is None:
        if is_early:
            return True
        raise UndecidableError(ended.producer_id)
    if ended.marker_offset < producer.anchor.ends.get(partition, 0):
        return True
    counted[ended.producer_id] += 1
    return counted[ended.producer_id] <= producer.anchor.commits[partition]


def _is_committing(
    partition: TopicPartition,
    opened: OpenedTransaction,
    decisions: DecisionsAtCut,
    counted: Counter[int],
) -> bool:
    """Whether its commit is decided and only the marker is missing."""
    producer = decisions.producers.get(opened.producer_id)
    if producer is None or partition not in producer.committing:
        return False
    if producer.has_own_epochs or producer.producer_epoch != opened.producer_epoch:
        return producer.producer_epoch == opened.producer_epoch + 1
    if producer.anchor is None:
        raise UndecidableError(opened.producer_id)
    return counted[opened.producer_id] < producer.anchor.commits[partition]


class Erasing:
    """Whether batches of one partition are erased."""

    def __init__(self, found: Iterable[Erasure]) -> None:
        self._by_producer: dict[int, list[Erasure]] = {}
        for each in found:
            self._by_producer.setdefault(each.producer_id, []).append(each)

    def erases(self, header: BatchHeader) -> bool:
        return header.is_transactional and any(
            each.first_offset <= header.base_offset <= each.last_offset
            for each in self._by_producer.get(header.producer_id, ())
        )


def erased_batch(header: BatchHeader) -> bytearray:
    """A batch without records that has the same offsets."""
    attributes = header.attributes & ~(TRANSACTIONAL_FLAG | CONTROL_FLAG)
    return empty_batch(
        header._replace(
            attributes=attributes,
            producer_id=NO_PRODUCER_ID,
            producer_epoch=NO_PRODUCER_EPOCH,
            base_sequence=NO_SEQUENCE,
        )
    )
