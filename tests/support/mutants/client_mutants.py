"""Bugs in the public clients, planted one at a time: what they promise, the simulation claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from ottla.client.consuming.consumer import Consumer
from ottla.client.consuming.decoding.fetched_batches import FetchedBatches
from ottla.client.consuming.record_queue import RecordQueue
from ottla.client.groups.offsets import OffsetsOfGroup
from ottla.client.producing.batch import NO_IDENTITY, ProducerBatch, ProducerIdentity
from ottla.client.producing.guarantees import Idempotence
from ottla.client.producing.partition_queue import PartitionQueue
from ottla.model import TopicPartition
from ottla.simulation.claims.claims import (
    IdempotentProducersNeverDuplicate,
    NoAcknowledgedWriteLost,
    OnlyWhatWasSentIsThere,
    ReadsArePrefix,
)
from ottla.simulation.claims.group_claims import (
    EverythingIsConsumed,
    NoCommitLost,
)
from ottla.simulation.claims.transaction_claims import CommittedIsReadInOrder, NoAbortedRead
from ottla.wire.records.header import BatchHeader
from tests.support.mutants.planting import Mutant, around, copying

_MEMBERS: dict[str, Any] = {"members": 2, "classic_members": 2}


def _skips_what_follows(original: Any) -> Any:
    """The position after a batch is taken for that after the response."""

    def take_chunk(self: RecordQueue, count_max: int) -> Any:
        taken = original(self, count_max)
        if taken and len(self._responses) > 1:
            self._responses.popleft()[0].close()
        return taken

    return take_chunk


def _hands_out_twice(original: Any) -> Any:
    """The last record of a chunk is the first one of the next as well."""

    def take_chunk(self: RecordQueue, count_max: int) -> Any:
        taken = original(self, count_max)
        if len(taken) > 1:
            self.take_back(1)
        return taken

    return take_chunk


def _hands_out_backwards(original: Any) -> Any:
    def take(self: RecordQueue, count_max: int) -> Any:
        return original(self, count_max)[::-1]

    return take


def _commits_ahead(original: Any) -> Any:
    """Commits the offset after the next record, which nobody has got yet."""

    async def commit(self: Consumer, offsets: Mapping[Any, Any], **named: Any) -> None:
        ahead = {
            name: position._replace(offset=position.offset + 1)
            for name, position in offsets.items()
        }
        await original(self, ahead, **named)

    return commit


@contextmanager
def _repeats_commits_of_others() -> Iterator[None]:
    """A commit is sent once more, some time later, with whatever epoch the member has then."""
    original = OffsetsOfGroup.commit

    async def commit(
        self: OffsetsOfGroup, offsets: Mapping[TopicPartition, Any], *, deadline: float
    ) -> None:
        kept = dict(offsets)
        await original(self, offsets, deadline=deadline)
        cluster = self._cluster

        async def again() -> None:
            await cluster.clock.sleep(3)
            await self._commit(kept, {name: self._owner(name) for name in kept})

        if kept and cluster.dice.chance(0.3):
            cluster.tasks.start("again", again())

    with ExitStack() as stack:
        stack.enter_context(patch.object(OffsetsOfGroup, "commit", commit))
        # Such a task may fail, as the bug's would.
        stack.enter_context(
            patch("ottla.client.cluster.client_cluster._task_failed", lambda _name, _error: None)
        )
        yield


def _acknowledges_too_early(original: Any) -> Any:
    """Some deliveries are decided when the batch is sent, and the batch is never sent again."""

    def next_batch(self: PartitionQueue, identity: ProducerIdentity) -> ProducerBatch | None:
        batch: ProducerBatch | None = original(self, identity)
        if batch is not None:
            batch.complete(-1, -1)
        return batch

    return next_batch


def _sends_again_as_new(original: Any) -> Any:
    """A batch that was not answered gets the next sequence number, as if it had not been sent."""

    def failed(self: PartitionQueue, batch: ProducerBatch, *, retry_at: float) -> None:
        original(self, batch, retry_at=retry_at)
        if len(self.outstanding) == 1:
            self.outstanding.clear()
            self.ready.appendleft(batch)

    return failed


@contextmanager
def _sends_again_out_of_order() -> Iterator[None]:
    """Without sequence numbers, and the last of several batches that were not answered first."""
    original = PartitionQueue.next_batch

    def next_batch(self: PartitionQueue, identity: ProducerIdentity) -> ProducerBatch | None:
        if not self.in_flight and any(batch.is_failed for batch in self.outstanding):
            self.outstanding.reverse()
        return original(self, identity)

    with (
        patch.object(PartitionQueue, "next_batch", next_batch),
        patch.object(Idempotence, "identity", lambda _self: NO_IDENTITY),
    ):
        yield


def _shows_aborted(original: Any) -> Any:
    """The list of aborted transactions in a response is ignored."""

    def note_transactions(self: FetchedBatches, at: int, header: BatchHeader) -> bool:
        original(self, at, header)
        return header.is_control

    return note_transactions


def _never_trusts_again(original: Any) -> Any:
    """A producer of an aborted transaction is skipped up to the end of the response."""

    def note_transactions(self: FetchedBatches, at: int, header: BatchHeader) -> bool:
        before = set(self._aborted)
        is_skipped: bool = original(self, at, header)
        self._aborted |= before
        return is_skipped

    return note_transactions


CLIENT_MUTANTS = (
    Mutant(
        "producer acknowledges what it has only sent",
        around(PartitionQueue, "next_batch", _acknowledges_too_early),
        1,
        NoAcknowledgedWriteLost,
        seeks=("kill", "part", "isolate", "reset_connections"),
    ),
    Mutant(
        "producer sends again as if for the first time",
        around(PartitionQueue, "failed", _sends_again_as_new),
        1,
        IdempotentProducersNeverDuplicate,
        seeks=("kill", "part", "isolate", "reset_connections"),
    ),
    Mutant(
        "producer sends again in another order",
        _sends_again_out_of_order,
        1,
        OnlyWhatWasSentIsThere,
        seeks=("part", "isolate", "reset_connections", "slow_link"),
        under_way=5,
    ),
    copying(
        "consumer shows what was aborted",
        around(FetchedBatches, "_note_transactions", _shows_aborted),
        1,
        NoAbortedRead,
    ),
    copying(
        "consumer skips producers that once aborted",
        around(FetchedBatches, "_note_transactions", _never_trusts_again),
        1,
        CommittedIsReadInOrder,
        seeks=("pause", "slow_link", "part"),
    ),
    Mutant(
        "consumer skips records",
        around(RecordQueue, "take_chunk", _skips_what_follows),
        1,
        ReadsArePrefix,
        seeks=("pause_member", "slow_link"),
        **_MEMBERS,
    ),
    Mutant(
        "consumer hands out records twice",
        around(RecordQueue, "take_chunk", _hands_out_twice),
        1,
        ReadsArePrefix,
        seeks=("pause_member", "slow_link"),
        **_MEMBERS,
    ),
    Mutant(
        "consumer hands out records in another order",
        around(RecordQueue, "take", _hands_out_backwards),
        1,
        ReadsArePrefix,
        seeks=("pause_member",),
        **_MEMBERS,
    ),
    Mutant(
        "consumer commits more than it has handed out",
        around(Consumer, "commit", _commits_ahead),
        1,
        EverythingIsConsumed,
        seeks=("pause_member", "kill", "stop"),
        seconds_max=9,
        **_MEMBERS,
    ),
    Mutant(
        "consumer repeats old commits",
        _repeats_commits_of_others,
        1,
        NoCommitLost,
        seeks=("pause_member", "pause"),
        seconds_max=9,
        **_MEMBERS,
    ),
)
