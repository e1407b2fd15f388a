"""Consuming as a member of a group, with a client that does as the test says."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable, Mapping

import pytest

from ottla.cli.consume.group import COMMIT_INTERVAL_S, GroupReading, GroupRequest, offset_reset
from ottla.cli.consume.output import RecordOutput
from ottla.cli.consume.start_position import BEGINNING, Anchor, StartPosition
from ottla.cli.exit_codes import CommandError
from ottla.client.administration.requests import node_error
from ottla.client.records import ConsumedRecord
from ottla.model import ErrorCode, TopicPartition
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.records.header import TimestampType
from tests.support.captured_terminal import captured_terminal, complained

Callback = Callable[[frozenset[TopicPartition]], Awaitable[None] | None]


class FakeConsumer:
    """A member that has the partitions of `assigned`. Its positions are those of the test."""

    def __init__(self, *assigned: int) -> None:
        self.assigned = list(assigned)
        self.positions: dict[int, int] = {}
        self.commits: list[dict[int, int]] = []
        self.fails = False
        self.on_assigned: Callback
        self.on_revoked: Callback

    async def subscribe(
        self, topics: list[str], on_assigned: Callback, on_revoked: Callback
    ) -> None:
        self.on_assigned, self.on_revoked = on_assigned, on_revoked

    def assignment(self) -> frozenset[TopicPartition]:
        return frozenset(TopicPartition("orders", partition) for partition in self.assigned)

    async def position(self, name: TopicPartition, *, timeout: float) -> int:  # noqa: ASYNC109
        return self.positions.get(name.partition, 0)

    async def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        if self.fails:
            raise node_error(ErrorCode.REBALANCE_IN_PROGRESS)
        self.commits.append({name.partition: offset for name, offset in offsets.items()})


class Run:
    """A reading whose records the test gives."""

    def __init__(
        self,
        consumer: FakeConsumer,
        ends: dict[int, int] | None = None,
        records_max: int | None = None,
    ) -> None:
        self.consumer = consumer
        self.clock = SimulatedClock()
        self.terminal = captured_terminal()
        request = GroupRequest("orders", "billing", "earliest", ends is None, records_max)
        self.reading = GroupReading(
            consumer,  # type: ignore[arg-type]
            request,
            ends,
            self.terminal,
            self.clock,
        )
        self.stream = io.BytesIO()
        asyncio.run(self.reading.begin())

    def give(self, *records: ConsumedRecord) -> None:
        output = RecordOutput(self.stream, lambda record: b"%d\n" % record.offset)
        self.reading.take(records, output)
        output.flush()
        asyncio.run(self.reading.flushed())

    def commit(self) -> None:
        asyncio.run(self.reading.commit())

    def revoke(self) -> None:
        async def call() -> None:
            called = self.consumer.on_revoked(self.consumer.assignment())
            assert called is not None
            await called

        asyncio.run(call())

    @property
    def written(self) -> list[int]:
        return [int(line) for line in self.stream.getvalue().split()]


def record(offset: int, partition: int = 0) -> ConsumedRecord:
    return ConsumedRecord("orders", partition, offset, 0, TimestampType.CREATE_TIME, None, b"v")


def test_what_was_written_is_committed_at_the_end() -> None:
    run = Run(FakeConsumer(0, 1), {0: 2, 1: 1})
    run.give(record(0), record(1), record(0, 1))
    assert run.reading.is_done
    run.commit()
    assert run.consumer.commits == [{0: 2, 1: 1}]


def test_records_behind_the_end_are_neither_written_nor_committed() -> None:
    run = Run(FakeConsumer(0), {0: 1})
    run.give(record(0), record(1), record(2))
    run.commit()
    assert run.written == [0]
    assert run.consumer.commits == [{0: 1}]


def test_marks_of_transactions_at_the_end_do_not_keep_it_waiting() -> None:
    run = Run(FakeConsumer(0), {0: 2})
    run.give(record(0))
    assert not run.reading.is_done
    # Behind the mark.
    run.consumer.positions[0] = 2
    run.give()
    assert run.reading.is_done


def test_only_the_assigned_partitions_have_to_be_read() -> None:
    consumer = FakeConsumer(0, 1)
    run = Run(consumer, {0: 1, 1: 1})
    run.give(record(0))
    assert not run.reading.is_done
    consumer.assigned = [0]
    assert run.reading.is_done


def test_without_a_partition_it_waits() -> None:
    run = Run(FakeConsumer(), {0: 1})
    run.consumer.on_assigned(frozenset())
    assert not run.reading.is_done
    assert "no partition left" in complained(run.terminal)


def test_following_never_ends_and_commits_as_it_goes() -> None:
    run = Run(FakeConsumer(0))
    run.give(record(0))
    assert run.consumer.commits == []
    run.clock.advance(COMMIT_INTERVAL_S)
    run.give(record(1))
    run.give()
    assert run.consumer.commits == [{0: 2}]
    assert not run.reading.is_done


def test_no_more_than_max_is_committed() -> None:
    run = Run(FakeConsumer(0), {0: 10}, records_max=2)
    run.give(record(0), record(1), record(2))
    assert run.reading.is_done
    run.commit()
    assert run.consumer.commits == [{0: 2}]


def test_partitions_that_are_revoked_are_committed_before() -> None:
    run = Run(FakeConsumer(0))
    run.give(record(0))
    run.revoke()
    assert run.consumer.commits == [{0: 1}]


def test_a_commit_that_fails_is_noticed() -> None:
    run = Run(FakeConsumer(0))
    run.consumer.fails = True
    run.give(record(0))
    run.commit()
    assert "may be read again" in complained(run.terminal)


def test_a_member_chooses_only_where_nothing_is_committed() -> None:
    assert offset_reset(BEGINNING, None) == "earliest"
    assert offset_reset(StartPosition(Anchor.END), ()) == "latest"
    for start in (StartPosition(Anchor.END, 10), StartPosition(Anchor.OFFSET, 3)):
        with pytest.raises(CommandError, match="--from"):
            offset_reset(start, None)
    with pytest.raises(CommandError, match="--partition"):
        offset_reset(BEGINNING, [0])
