"""No transaction hangs: what is open in a partition is open at its coordinator too (KIP-890).

Batches are verified when the coordinator says so and arrive whenever they like, also long after the
transaction they were verified for has ended.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.model import KafkaError
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.log.log import Log
from ottla.storage.producers.verification import Verification
from tests.support.storage.batches import batch_of
from tests.support.storage.logs import marker, new_log

PRODUCERS = (1, 2)


class Begin(NamedTuple):
    """The coordinator has the partition in a transaction of the producer."""

    producer_id: int


class Send(NamedTuple):
    """A batch comes to the leader, which asks the coordinator."""

    producer_id: int


class Arrive(NamedTuple):
    """One of the answers of the coordinator comes, and the batch is appended."""

    which: int


class End(NamedTuple):
    producer_id: int
    is_commit: bool


class UnderWay(NamedTuple):
    producer_id: int
    epoch: int
    verification: Verification | None
    # What the coordinator said when it was asked.
    is_in_transaction: bool


producers = st.sampled_from(PRODUCERS)
OPERATIONS = st.lists(
    st.builds(Begin, producers)
    | st.builds(Send, producers)
    | st.builds(Send, producers)
    | st.builds(Arrive, st.integers(0, 5))
    | st.builds(End, producers, st.booleans()),
    max_size=40,
)


class World:
    """One partition, and the coordinator and clients of its producers."""

    def __init__(self, *, bumps_epochs: bool) -> None:
        self.log: Log = new_log(transaction_verification_enable=True)
        self.epochs = dict.fromkeys(PRODUCERS, 0)
        self.open: set[int] = set()
        self.under_way: list[UnderWay] = []
        self._bumps_epochs = bumps_epochs

    def send(self, producer_id: int) -> None:
        epoch = self.epochs[producer_id]
        verification = self.log.producers.state.start_verification(
            producer_id=producer_id,
            producer_epoch=epoch,
            sequence=self._next_sequence(producer_id, epoch),
            supports_epoch_bump=self._bumps_epochs,
            now_ms=0,
        )
        is_in_transaction = verification is None or producer_id in self.open
        self.under_way.append(UnderWay(producer_id, epoch, verification, is_in_transaction))

    def arrive(self, which: int) -> None:
        if not self.under_way:
            return
        batch = self.under_way.pop(which % len(self.under_way))
        if not batch.is_in_transaction:
            return
        records = batch_of(
            b"v",
            producer_id=batch.producer_id,
            producer_epoch=batch.epoch,
            # Never out of order: nothing but the transaction is to be a reason.
            sequence=self._next_sequence(batch.producer_id, batch.epoch),
            is_transactional=True,
        )
        try:
            self.log.append_as_leader(
                records, leader_epoch=0, now_ms=0, verification=batch.verification
            )
        except KafkaError:
            assert not self._must_take(batch)

    def end(self, producer_id: int, *, is_commit: bool) -> None:
        if producer_id not in self.open:
            return
        self.open.discard(producer_id)
        if self._bumps_epochs:
            self.epochs[producer_id] += 1
        self.log.append_as_leader(
            marker(
                producer_id=producer_id,
                commit=is_commit,
                producer_epoch=self.epochs[producer_id],
            ),
            leader_epoch=0,
            now_ms=0,
            origin=Origin.COORDINATOR,
            transaction_version=2 if self._bumps_epochs else 1,
        )

    def open_here(self) -> set[int]:
        return {
            entry.producer_id
            for entry in self.log.producers.state.entries.values()
            if entry.current_txn_first_offset is not None
        }

    def _must_take(self, batch: UnderWay) -> bool:
        """Whether the batch is of the transaction that is open, and was verified for it."""
        entry = self.log.producers.state.entries.get(batch.producer_id)
        return (
            entry is not None
            and entry.current_txn_first_offset is not None
            and entry.producer_epoch == batch.epoch
        )

    def _next_sequence(self, producer_id: int, epoch: int) -> int:
        entry = self.log.producers.state.entries.get(producer_id)
        if entry is None or entry.producer_epoch != epoch:
            return 0
        return entry.last_sequence + 1


@pytest.mark.parametrize("bumps_epochs", [False, True])
@settings(deadline=None, max_examples=150)
@given(operations=OPERATIONS)
def test_what_is_open_in_a_partition_is_open_at_its_coordinator(
    bumps_epochs: bool, operations: list[Begin | Send | Arrive | End]
) -> None:
    world = World(bumps_epochs=bumps_epochs)
    for operation in operations:
        match operation:
            case Begin(producer_id):
                world.open.add(producer_id)
            case Send(producer_id):
                world.send(producer_id)
            case Arrive(which):
                world.arrive(which)
            case End(producer_id, is_commit):
                world.end(producer_id, is_commit=is_commit)
        assert world.open_here() <= world.open
