"""The decisions in the copied `__transaction_state`: what `settling` has to know about producers.

The log is copied in rounds. Between two of them, the ends of all other partitions are read. A
transactional id without a record in the later round, and without a decision whose markers were
being written, was at rest while those ends were read: they are its anchor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ottla.cli.backup.settling import CutAnchor, DecisionsAtCut, ProducerAtCut
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.versions import bumps_epoch
from ottla.model import NO_PRODUCER_ID, TopicPartition
from ottla.wire.stored.transactions import TransactionLogValue

_NONE: frozenset[TopicPartition] = frozenset()


@dataclass(slots=True)
class _TransactionalId:
    producer_id: int
    producer_epoch: int
    state: int
    has_own_epochs: bool
    partitions: frozenset[TopicPartition]
    anchor: CutAnchor | None
    # Whether it has a record of the present round.
    has_changed: bool = True


@dataclass(slots=True)
class DecisionLog:
    """Takes the records in the order of each partition, round by round."""

    _ids: dict[str, _TransactionalId] = field(default_factory=dict)
    _producer_ids: set[int] = field(default_factory=set)
    # Ends that were read before the previous round: an id that is new in the present one has no
    # markers below them.
    _ends_before: Mapping[TopicPartition, int] | None = None

    @property
    def has_all_anchors(self) -> bool:
        return not self.without_anchor

    @property
    def without_anchor(self) -> dict[int, str]:
        """The transactional ids, by producer id, whose transactions must be counted and cannot be
        counted yet."""
        return {
            each.producer_id: name
            for name, each in self._ids.items()
            if each.anchor is None and not each.has_own_epochs
        }

    def take(self, transactional_id: str, value: TransactionLogValue | None) -> None:
        before = self._ids.get(transactional_id)
        if value is None:
            self._ids.pop(transactional_id, None)
            return
        self._producer_ids.update((value.producer_id, value.previous_producer_id))
        after = _TransactionalId(
            value.producer_id,
            value.producer_epoch,
            value.transaction_status,
            bumps_epoch(value.client_transaction_version),
            frozenset(
                TopicPartition(topic.topic, index)
                for topic in value.transaction_partitions or ()
                for index in topic.partition_ids
            ),
            self._anchor(before, value),
        )
        if after.anchor is not None and after.state == TransactionState.PREPARE_COMMIT:
            after.anchor.commits.update(after.partitions)
        self._ids[transactional_id] = after

    def _anchor(
        self, before: _TransactionalId | None, value: TransactionLogValue
    ) -> CutAnchor | None:
        if before is not None and (before.producer_id, before.producer_epoch) == (
            value.producer_id,
            value.producer_epoch,
        ):
            return before.anchor
        return None if self._ends_before is None else CutAnchor(self._ends_before, Counter())

    def begin_round(self, ends_before: Mapping[TopicPartition, int]) -> None:
        """`ends_before` were read before the previous round began."""
        self._ends_before = ends_before
        for each in self._ids.values():
            each.has_changed = False

    def end_round(self, ends: Mapping[TopicPartition, int]) -> None:
        """`ends` were read between the previous round and the present one."""
        for each in self._ids.values():
            is_preparing = each.state in (
                TransactionState.PREPARE_COMMIT,
                TransactionState.PREPARE_ABORT,
            )
            if each.anchor is None and not each.has_changed and not is_preparing:
                each.anchor = CutAnchor(ends, Counter())

    def decisions(self, ends: Mapping[TopicPartition, int]) -> DecisionsAtCut:
        producers = {
            each.producer_id: ProducerAtCut(
                each.producer_epoch,
                each.has_own_epochs,
                each.partitions if each.state == TransactionState.PREPARE_COMMIT else _NONE,
                each.anchor,
            )
            for each in self._ids.values()
        }
        replaced = self._producer_ids - producers.keys() - {NO_PRODUCER_ID}
        return DecisionsAtCut(producers, frozenset(replaced), ends)
