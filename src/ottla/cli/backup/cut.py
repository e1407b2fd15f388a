"""The order in which partitions are copied: the bulk first, then up to the ends of the cut.

`settling` explains why this order makes the backup consistent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final

from ottla.cli.backup.decision_log import DecisionLog
from ottla.cli.backup.partition_copier import PartitionCopier
from ottla.cli.backup.partition_copy import PartitionCopy
from ottla.cli.backup.settling import DecisionsAtCut, Erasure, UndecidableError, erasures
from ottla.cli.exit_codes import CommandError
from ottla.model import Buffer, TopicPartition
from ottla.runtime.clock import Clock
from ottla.wire.records import iterate_records
from ottla.wire.stored.coordinator_records import TRANSACTION_RECORDS
from ottla.wire.stored.transactions import TransactionLogKey, TransactionLogValue

TRANSACTIONS: Final = "__transaction_state"
OFFSETS: Final = "__consumer_offsets"
# How long a pause of every transactional id is waited for.
_ANCHOR_SECONDS_MAX: Final = 20.0


class Cut:
    """One run of the backup. `find_partitions` adds the copies of new partitions."""

    def __init__(
        self,
        copies: dict[TopicPartition, PartitionCopy],
        copier: PartitionCopier,
        clock: Clock,
        find_partitions: Callable[[], Awaitable[None]],
    ) -> None:
        self._copies = copies
        self._copier = copier
        self._clock = clock
        self._find_partitions = find_partitions
        self._decisions = DecisionLog()

    async def copy(self) -> dict[TopicPartition, tuple[Erasure, ...]]:
        """Copies everything, and returns what a restore leaves out."""
        await self._copy_to_end(self._of(lambda _topic: True))
        await self._find_partitions()
        self._keep_markers()
        ends_before = await self._copier.read_ends(self._of(lambda topic: topic != TRANSACTIONS))
        await self._copy_to_end(self._of(TRANSACTIONS.__eq__))
        decisions = await self._copy_decisions(ends_before)
        await self._find_partitions()
        self._keep_markers()
        await self._copy_to_end(self._of(OFFSETS.__eq__))
        await self._copy_to_end(self._of(lambda topic: topic not in (OFFSETS, TRANSACTIONS)))
        return {name: self._erasures(name, copy, decisions) for name, copy in self._copies.items()}

    def follow(self, copy: PartitionCopy) -> None:
        """Reads the decisions in a partition of `__transaction_state`."""
        copy.on_batch = self._take_decisions

    async def _copy_decisions(self, ends_before: Mapping[TopicPartition, int]) -> DecisionsAtCut:
        """Copies `__transaction_state` until every transactional id that needs an anchor has one,
        at least once."""
        deadline = self._clock.monotonic() + _ANCHOR_SECONDS_MAX
        while True:
            ends = await self._copier.read_ends(self._of(lambda topic: topic != TRANSACTIONS))
            self._decisions.begin_round(ends_before)
            await self._copy_to_end(self._of(TRANSACTIONS.__eq__))
            self._decisions.end_round(ends)
            if self._decisions.has_all_anchors or self._clock.monotonic() > deadline:
                return self._decisions.decisions(ends)
            ends_before = ends

    async def _copy_to_end(self, partitions: Iterable[TopicPartition]) -> None:
        await self._copier.copy_to(await self._copier.read_ends(partitions))

    def _keep_markers(self) -> None:
        for copy in self._copies.values():
            copy.scan.keeps_ended = True

    def _of(self, is_chosen: Callable[[str], bool]) -> list[TopicPartition]:
        return [name for name in self._copies if is_chosen(name.topic)]

    def _erasures(
        self, name: TopicPartition, copy: PartitionCopy, decisions: DecisionsAtCut
    ) -> tuple[Erasure, ...]:
        if name.topic == TRANSACTIONS:
            return ()
        scan = copy.scan
        try:
            return tuple(erasures(name, scan.ended, scan.opened.values(), decisions))
        except UndecidableError as error:
            transactional_id = self._decisions.without_anchor.get(error.producer_id, "?")
            raise CommandError(
                f"The transactional id {transactional_id} commits without pause, so that its "
                "transactions cannot be counted.",
                "Run the command again. A client that uses TransactionV2 (Apache Kafka's Java "
                "client from 4.0 on) does not need pauses.",
            ) from None

    def _take_decisions(self, batch: Buffer) -> None:
        for record in iterate_records(batch):
            if record.key is None:
                continue
            key = TRANSACTION_RECORDS.decode_key(record.key)
            assert isinstance(key, TransactionLogKey)
            if record.value is None:
                self._decisions.take(key.transactional_id, None)
                continue
            value, _ = TRANSACTION_RECORDS.decode_value(key, record.value)
            assert isinstance(value, TransactionLogValue)
            self._decisions.take(key.transactional_id, value)
