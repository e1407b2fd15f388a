"""What our log leaves on disk, in the eyes of Apache Kafka: its dump tool and its own log."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from ottla.simulation.seams.dice import SeededDice
from ottla.storage.log.log import Log
from tests.conformance.kafka.judge import Judge
from tests.conformance.kafka.log import KafkaLog
from tests.support.kafka.kafka_fixtures import partition_names
from tests.support.kafka.kafka_logs import opened_partition
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import aborted_in, directory_content, facts
from tests.support.storage.log_operations import LogOperations
from tests.support.storage.logs import DIRECTORY, PARTITION, append

pytestmark = pytest.mark.java

HISTORIES = 10
OPERATIONS = 40


class Written(NamedTuple):
    """A log that was written, and a copy of its files for Kafka to open."""

    log: Log
    directory: Path
    config: dict[str, str]


def operated(seed: int, *rare: str) -> LogOperations:
    """Appends of all kinds by chance, and some of the rare operations between them."""
    operations = LogOperations(SeededDice(f"for Kafka {seed}"))
    often = [*["append"] * 8, "append_as_follower"]
    for _ in range(OPERATIONS):
        getattr(operations, operations.dice.choice([*often, *rare]))()
    operations.append()
    return operations


def copied(operations: LogOperations, into: Path) -> Written:
    directory = into / str(PARTITION)
    directory.mkdir()
    for name, content in directory_content(operations.disk, DIRECTORY).items():
        (directory / name).write_bytes(content)
    config = operations.config
    return Written(
        operations.log,
        directory,
        {
            "index.interval.bytes": str(config.index_interval_bytes),
            "segment.index.bytes": str(config.segment_index_bytes),
        },
    )


def assert_same_offsets(kafka: KafkaLog, log: Log) -> None:
    assert kafka.log_start_offset == log.log_start_offset
    assert kafka.log_end_offset == log.log_end_offset
    assert [(entry.epoch, entry.start_offset) for entry in kafka.leader_epochs] == [
        *log.epochs.entries
    ]
    assert [(segment.base_offset, segment.size) for segment in kafka.segments] == [
        (segment.base_offset, segment.size) for segment in log.segments
    ]


def assert_same(kafka: KafkaLog, log: Log) -> None:
    assert_same_offsets(kafka, log)
    log.advance_high_watermark(log.log_end_offset)
    assert kafka.last_stable_offset == log.last_stable_offset
    assert {
        (
            producer.producer_id,
            producer.producer_epoch,
            producer.coordinator_epoch,
            producer.current_txn_first_offset,
            producer.last_timestamp,
            *(
                (batch.last_sequence, batch.last_offset, batch.last_offset - batch.first_offset)
                for batch in producer.batches[-1:]
            ),
        )
        for producer in kafka.producers
    } == {
        (*facts(entry)[:5], *([facts(entry)[5:]] if entry.batches else []))
        for entry in log.producers.state.entries.values()
    }
    assert [
        (txn.producer_id, txn.first_offset, txn.last_offset, txn.last_stable_offset)
        for txn in kafka.aborted_txns
    ] == [*aborted_in(log).values()]


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_kafka_accepts_and_opens_a_log_that_was_closed(
    judge: Judge, tmp_path: Path, seed: int
) -> None:
    operations = operated(seed, "roll", "truncate", "flush")
    operations.log.close()
    log, directory, config = copied(operations, tmp_path)

    judge.assert_accepts(directory)
    kafka = judge.open_log(directory, last_shutdown_clean=True, config=config)

    assert_same(kafka, log)
    assert [segment.largest_timestamp for segment in kafka.segments] == [
        segment.max_timestamp.timestamp for segment in log.segments
    ]
    assert [(segment.index_entries, segment.time_index_entries) for segment in kafka.segments] == [
        (segment.offset_index.entry_count, segment.time_index.entry_count)
        for segment in log.segments
    ]


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_kafka_recovers_a_log_that_was_not_closed(judge: Judge, tmp_path: Path, seed: int) -> None:
    log, directory, config = copied(operated(seed, "roll", "flush"), tmp_path)

    kafka = judge.open_log(directory, last_shutdown_clean=False, config=config)

    assert_same(kafka, log)


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_kafka_opens_a_log_that_begins_later(judge: Judge, tmp_path: Path, seed: int) -> None:
    operations = operated(seed, "roll", "delete", "expire")
    operations.log.close()
    log, directory, _ = copied(operations, tmp_path)

    judge.assert_accepts(directory)
    kafka = judge.open_log(
        directory, last_shutdown_clean=True, log_start_offset=log.log_start_offset
    )

    assert_same_offsets(kafka, log)


@pytest.mark.parametrize("name", partition_names("clean"))
def test_kafka_goes_on_with_its_own_log_after_us(judge: Judge, tmp_path: Path, name: str) -> None:
    log = opened_partition(name, tmp_path)
    epoch = log.epochs.latest_epoch or 0
    for sequence in range(20):
        batch = batch_of(b"v" * 100, key=b"k%d" % sequence, producer_id=10**6, sequence=sequence)
        append(log, batch, epoch=epoch)
    log.roll(now_ms=0)
    append(log, batch_of(b"one more", key=b"k"), epoch=epoch)
    log.close()
    directory = Path(log.directory)

    judge.assert_accepts(directory, compacted="compacted" in name)
    kafka = judge.open_log(
        directory, last_shutdown_clean=True, log_start_offset=log.log_start_offset
    )

    assert_same(kafka, log)
