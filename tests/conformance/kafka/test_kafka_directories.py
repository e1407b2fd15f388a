"""Directories that Apache Kafka wrote, opened here: after an orderly stop and after a kill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.model import TopicPartition
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.wire.records.record import iterate_records
from tests.support.kafka.kafka_fixtures import expected, extract, partition_names
from tests.support.kafka.kafka_logs import open_partition, opened_partition
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import aborted_in, all_batches, assert_sound
from tests.support.storage.logs import append

NAMES = [*partition_names("clean"), *partition_names("unclean")]
NEW_PRODUCER_ID = 10**6


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Log]]:
    """Every partition of both directories, opened as a starting node would."""
    found = {}
    for archive in ("clean", "unclean"):
        data = extract(archive, tmp_path_factory.mktemp(archive))
        for name in partition_names(archive):
            directory = data / name.partition("/")[2]
            found[name] = open_partition(directory, is_clean=archive == "clean")
    yield found
    for log in found.values():
        log.abandon()


@pytest.fixture
def log(logs: dict[str, Log], name: str) -> Log:
    return logs[name]


@pytest.mark.parametrize("name", NAMES)
def test_offsets_and_epochs_are_kafkas(log: Log, name: str) -> None:
    kafka = expected(name).log

    assert log.log_start_offset == kafka.log_start_offset
    assert log.log_end_offset == kafka.log_end_offset
    assert [*log.epochs.entries] == [
        (entry.epoch, entry.start_offset) for entry in kafka.leader_epochs
    ]


@pytest.mark.parametrize("name", NAMES)
def test_batches_and_records_are_kafkas(log: Log, name: str) -> None:
    kafka = expected(name)
    stored = all_batches(log)

    assert [(batch.header.base_offset, batch.header.last_offset) for batch in stored] == [
        (batch.base_offset, batch.last_offset) for batch in kafka.batches
    ]
    assert [
        (record.offset, record.timestamp, record.key, record.value, record.headers)
        for batch in stored
        for record in iterate_records(batch.data)
    ] == [
        (record.offset, record.timestamp, record.key, record.value, record.headers)
        for record in kafka.records
    ]


@pytest.mark.parametrize("name", NAMES)
def test_producers_are_kafkas(log: Log, name: str) -> None:
    assert {
        (
            entry.producer_id,
            entry.producer_epoch,
            entry.coordinator_epoch,
            entry.last_timestamp,
            entry.current_txn_first_offset,
            entry.last_sequence,
            entry.last_data_offset,
        )
        for entry in log.producers.state.entries.values()
    } == {
        (
            producer.producer_id,
            producer.producer_epoch,
            producer.coordinator_epoch,
            producer.last_timestamp,
            producer.current_txn_first_offset,
            producer.batches[-1].last_sequence if producer.batches else -1,
            producer.batches[-1].last_offset if producer.batches else -1,
        )
        for producer in expected(name).log.producers
    }


@pytest.mark.parametrize("name", NAMES)
def test_aborted_transactions_and_the_last_stable_offset_are_kafkas(log: Log, name: str) -> None:
    kafka = expected(name).log
    log.advance_high_watermark(log.log_end_offset)

    assert [*aborted_in(log).values()] == [
        (txn.producer_id, txn.first_offset, txn.last_offset, txn.last_stable_offset)
        for txn in kafka.aborted_txns
    ]
    assert log.last_stable_offset == kafka.last_stable_offset


@pytest.mark.parametrize("name", NAMES)
def test_segments_and_their_latest_timestamps_are_kafkas(log: Log, name: str) -> None:
    assert [
        (segment.base_offset, segment.size, segment.max_timestamp.timestamp)
        for segment in log.segments
    ] == [
        (segment.base_offset, segment.size, segment.largest_timestamp)
        for segment in expected(name).log.segments
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_offset_is_found_through_kafkas_indexes(log: Log, name: str) -> None:
    for batch in all_batches(log):
        for offset in {batch.header.base_offset, batch.header.last_offset}:
            if offset >= log.log_start_offset:
                found = log.read(offset, bytes_max=1, upper_offset=log.log_end_offset)
                assert found is not None
                assert found.read() == batch.data


def test_a_node_starts_on_kafkas_directory_without_recovery(tmp_path: Path) -> None:
    directory = LogDirectory(SystemDisk(), str(extract("clean", tmp_path)))

    directory.load(lambda _: LogConfig(), now_ms=0)

    assert directory.had_clean_shutdown
    assert not directory.offline
    assert directory.logs[TopicPartition("plain", 0)].high_watermark > 0
    directory.abandon()


@pytest.mark.parametrize("clean_close", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_kafkas_log_is_appended_to_and_opened_again(
    tmp_path: Path, name: str, clean_close: bool
) -> None:
    log = opened_partition(name, tmp_path)
    before, end = [batch.data for batch in all_batches(log)], log.log_end_offset
    epoch = (log.epochs.latest_epoch or 0) + 1
    for sequence in range(5):
        batch = batch_of(b"v" * 200, key=b"k", producer_id=NEW_PRODUCER_ID, sequence=sequence)
        append(log, batch, epoch=epoch)
    if clean_close:
        log.close()
    else:
        log.abandon()

    log = open_partition(Path(log.directory), is_clean=clean_close)

    assert [batch.data for batch in all_batches(log)][:-5] == before
    assert log.log_end_offset == end + 5
    assert log.epochs.latest_entry == (epoch, end)
    assert log.producers.state.entries[NEW_PRODUCER_ID].last_sequence == 4
    if "compacted" not in name:
        assert_sound(log, gaps=True)
    log.abandon()
