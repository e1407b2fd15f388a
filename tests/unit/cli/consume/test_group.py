"""Consuming as a member of a group, with a client that does as the test says."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from ottla.cli.consume.group import COMMIT_INTERVAL_S, GroupReading, GroupRequest, offset_reset
from ottla.cli.consume.output import RecordOutput
from ottla.cli.consume.start_position import BEGINNING, Anchor, StartPosition
from ottla.cli.exit_codes import CommandError
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.captured_terminal import captured_terminal, complained


class FakeConsumer:
    """A member that has the partitions of `assigned`."""

    def __init__(self, *assigned: int) -> None:
        self.assigned = list(assigned)
        self.commits: list[dict[int, int]] = []
        self.fails = False
        self.on_revoke: Callable[..., None] = lambda *_: None
        self.on_assign: Callable[..., None] = lambda *_: None

    def subscribe(self, topics: list[str], on_assign: object, on_revoke: object) -> None:
        self.on_assign, self.on_revoke = on_assign, on_revoke  # type: ignore[assignment]

    def assignment(self) -> list[TopicPartition]:
        return [TopicPartition("orders", partition) for partition in self.assigned]

    def commit(self, offsets: list[TopicPartition], asynchronous: bool) -> None:
        if self.fails:
            raise KafkaException(KafkaError(KafkaError.REBALANCE_IN_PROGRESS))
        self.commits.append({each.partition: each.offset for each in offsets})


class Run:
    """A reading whose messages the test gives."""

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
        self.reading.begin()

    def give(self, *messages: Message) -> None:
        output = RecordOutput(self.stream, lambda message: b"%d\n" % (message.offset() or 0))
        self.reading.take(messages, output)
        output.flush()
        self.reading.flushed()

    @property
    def written(self) -> list[int]:
        return [int(line) for line in self.stream.getvalue().split()]


def record(offset: int, partition: int = 0) -> Message:
    return Message(topic="orders", partition=partition, offset=offset, value=b"v")


def end(offset: int, partition: int = 0) -> Message:
    error = KafkaError(KafkaError._PARTITION_EOF)
    return Message(topic="orders", partition=partition, offset=offset, error=error)


def test_what_was_written_is_committed_at_the_end() -> None:
    run = Run(FakeConsumer(0, 1), {0: 2, 1: 1})
    run.give(record(0), record(1), record(0, 1))
    assert run.reading.is_done
    run.reading.commit()
    assert run.consumer.commits == [{0: 2, 1: 1}]


def test_records_behind_the_end_are_neither_written_nor_committed() -> None:
    run = Run(FakeConsumer(0), {0: 1})
    run.give(record(0), record(1), record(2))
    run.reading.commit()
    assert run.written == [0]
    assert run.consumer.commits == [{0: 1}]


def test_marks_of_transactions_at_the_end_do_not_keep_it_waiting() -> None:
    run = Run(FakeConsumer(0), {0: 2})
    run.give(record(0))
    assert not run.reading.is_done
    run.give(end(2))
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
    run.consumer.on_assign(run.consumer, [])
    assert not run.reading.is_done
    assert "no partition left" in complained(run.terminal)


def test_following_never_ends_and_commits_as_it_goes() -> None:
    run = Run(FakeConsumer(0))
    run.give(record(0), end(1))
    assert run.consumer.commits == []
    run.clock.advance(COMMIT_INTERVAL_S)
    run.give(record(1))
    run.give(end(2))
    assert run.consumer.commits == [{0: 2}]
    assert not run.reading.is_done


def test_no_more_than_max_is_committed() -> None:
    run = Run(FakeConsumer(0), {0: 10}, records_max=2)
    run.give(record(0), record(1), record(2))
    assert run.reading.is_done
    run.reading.commit()
    assert run.consumer.commits == [{0: 2}]


def test_partitions_that_are_revoked_are_committed_before() -> None:
    run = Run(FakeConsumer(0))
    run.give(record(0))
    run.consumer.on_revoke(run.consumer, run.consumer.assignment())
    assert run.consumer.commits == [{0: 1}]


def test_a_commit_that_fails_is_noticed() -> None:
    run = Run(FakeConsumer(0))
    run.consumer.fails = True
    run.give(record(0))
    run.reading.commit()
    assert "may be read again" in complained(run.terminal)


def test_other_errors_end_the_command() -> None:
    run = Run(FakeConsumer(0))
    error = KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED)
    with pytest.raises(CommandError, match="billing"):
        run.give(Message(topic="orders", error=error))


def test_a_member_chooses_only_where_nothing_is_committed() -> None:
    assert offset_reset(BEGINNING, None) == "earliest"
    assert offset_reset(StartPosition(Anchor.END), ()) == "latest"
    for start in (StartPosition(Anchor.END, 10), StartPosition(Anchor.OFFSET, 3)):
        with pytest.raises(CommandError, match="--from"):
            offset_reset(start, None)
    with pytest.raises(CommandError, match="--partition"):
        offset_reset(BEGINNING, [0])
