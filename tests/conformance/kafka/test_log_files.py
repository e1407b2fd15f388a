"""What our log leaves on disk, in the eyes of Apache Kafka: its dump tool and its own log."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from ottla.model import TopicPartition
from ottla.runtime.system_disk import SystemDisk
from ottla.simulation.dice import SeededDice
from ottla.storage.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.log_directory import LogDirectory
from tests.batches import batch_of
from tests.conformance.kafka.judge import Judge
from tests.conformance.kafka.log import KafkaLog
from tests.kafka_fixtures import extract, partition_names
from tests.log_checks import aborted_in, directory_content, facts
from tests.log_operations import LogOperations
from tests.logs import DIRECTORY, PARTITION, append

pytestmark = pytest.mark.java

HISTORIES = 15
OPERATIONS = 40


class Written(NamedTuple):
    """A log that was written, and a copy of its files for Kafka to open."""

    log: Log
    directory: Path
    config: dict[str, str]


def written(into: Path, seed: int, *, close: bool) -> Written:
    """Codecs, segments, epochs, producers, transactions, truncations and deletions by chance."""
    operations = LogOperations(SeededDice(f"for Kafka {seed}"))
    dice, log = operations.dice, operations.log
    for _ in range(OPERATIONS):
        rarely = (operations.roll, operations.truncate, operations.flush, operations.delete)
        choice = dice.choice((*[operations.append] * 8, operations.append_as_follower, *rarely))
        choice()
    operations.append()
    if close:
        log.close()
    else:
        for segment in log.segments:
            segment.flush()
    directory = into / str(PARTITION)
    directory.mkdir()
    for name, content in directory_content(operations.disk, DIRECTORY).items():
        (directory / name).write_bytes(content)
    return Written(
        log,
        directory,
        {
            "index.interval.bytes": str(operations.config.index_interval_bytes),
            "segment.index.bytes": str(operations.config.segment_index_bytes),
        },
    )


def assert_same(kafka: KafkaLog, log: Log) -> None:
    log.advance_high_watermark(log.log_end_offset)
    assert kafka.log_start_offset == log.log_start_offset
    assert kafka.log_end_offset == log.log_end_offset
    assert kafka.last_stable_offset == log.last_stable_offset
    assert [(entry.epoch, entry.start_offset) for entry in kafka.leader_epochs] == [
        *log.epochs.entries
    ]
    assert [(segment.base_offset, segment.size) for segment in kafka.segments] == [
        (segment.base_offset, segment.size) for segment in log.segments
    ]
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
    log, directory, config = written(tmp_path, seed, close=True)

    judge.assert_accepts(directory)
    kafka = judge.open_log(
        directory, last_shutdown_clean=True, log_start_offset=log.log_start_offset, config=config
    )

    assert_same(kafka, log)
    assert [segment.largest_timestamp for segment in kafka.segments] == [
        segment.max_timestamp.timestamp for segment in log.segments
    ]


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_kafka_recovers_a_log_that_was_not_closed(judge: Judge, tmp_path: Path, seed: int) -> None:
    log, directory, config = written(tmp_path, seed, close=False)

    kafka = judge.open_log(
        directory, last_shutdown_clean=False, log_start_offset=log.log_start_offset, config=config
    )

    assert_same(kafka, log)


@pytest.mark.parametrize("name", partition_names("clean"))
def test_kafka_goes_on_with_its_own_log_after_us(judge: Judge, tmp_path: Path, name: str) -> None:
    partition = TopicPartition.from_directory_name(name.partition("/")[2])
    directory = LogDirectory(SystemDisk(), str(extract("clean", tmp_path)))
    directory.load(lambda _: LogConfig(), now_ms=0)
    log = directory.logs[partition]
    epoch = log.epochs.latest_epoch or 0
    for sequence in range(20):
        batch = batch_of(b"v" * 100, key=b"k%d" % sequence, producer_id=10**6, sequence=sequence)
        append(log, batch, epoch=epoch)
    log.roll(now_ms=0)
    append(log, batch_of(b"one more", key=b"k"), epoch=epoch)
    directory.close(broker_epoch=2)

    judge.assert_accepts(tmp_path / str(partition), compacted="compacted" in name)
    kafka = judge.open_log(
        tmp_path / str(partition),
        last_shutdown_clean=True,
        log_start_offset=log.log_start_offset,
    )

    assert_same(kafka, log)
