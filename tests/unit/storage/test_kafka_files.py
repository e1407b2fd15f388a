"""Files that Apache Kafka wrote, read piece by piece, against what Kafka itself reads in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.model import NodeId, TopicPartition, uuid_to_text
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.directories.clean_shutdown import read_clean_shutdown
from ottla.storage.directories.meta_properties import read_meta_properties
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.directories.partition_metadata import read_partition_metadata
from ottla.storage.epochs.epoch_cache import LeaderEpochCache
from ottla.storage.errors import CorruptIndexError
from ottla.storage.files.file_names import FileKind, SegmentFileName
from ottla.storage.indexes.offset_index import OffsetIndex
from ottla.storage.indexes.time_index import TimeIndex
from ottla.storage.indexes.transaction_index import TransactionIndex
from ottla.storage.producers.producer_entry import ProducerEntry
from ottla.storage.producers.producer_snapshot import encode_snapshot, read_snapshot
from tests.support.kafka.kafka_fixtures import expected, extract, partition_names

ENTRIES_MAX = 1_000_000
DISK = SystemDisk()
CLEAN = partition_names("clean")


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return extract("clean", tmp_path_factory.mktemp("clean"))


def directory_of(clean: Path, name: str) -> Path:
    return clean / name.removeprefix("clean/")


def files_of(directory: Path, kind: FileKind) -> list[tuple[int, str]]:
    names = [SegmentFileName.parse(path.name) for path in sorted(directory.iterdir())]
    return [
        (name.base_offset, f"{directory}/{name}") for name in names if name and name.kind is kind
    ]


def offset_index(base_offset: int, path: str) -> OffsetIndex:
    return OffsetIndex(DISK.open(path), base_offset=base_offset, entries_max=ENTRIES_MAX)


def time_index(base_offset: int, path: str) -> TimeIndex:
    return TimeIndex(DISK.open(path), base_offset=base_offset, entries_max=ENTRIES_MAX)


def facts(entry: ProducerEntry) -> tuple[object, ...]:
    return (
        entry.producer_id,
        entry.producer_epoch,
        entry.coordinator_epoch,
        entry.last_timestamp,
        entry.current_txn_first_offset,
        entry.last_sequence,
        entry.last_data_offset,
    )


@pytest.mark.parametrize("name", CLEAN)
def test_topic_id_and_leader_epochs_are_kafkas(clean: Path, name: str) -> None:
    directory = str(directory_of(clean, name))
    log = expected(name).log
    topic_id = read_partition_metadata(DISK, directory)
    assert (topic_id and uuid_to_text(topic_id)) == log.topic_id
    epochs = LeaderEpochCache(DISK, directory)
    # Kafka does so when it opens a log: epochs without records are forgotten.
    epochs.truncate_from_start(log.log_start_offset)
    epochs.truncate_from_end(log.log_end_offset)
    assert epochs.entries == [(entry.epoch, entry.start_offset) for entry in log.leader_epochs]


@pytest.mark.parametrize("name", CLEAN)
def test_last_snapshot_holds_kafkas_producers(clean: Path, name: str) -> None:
    _, path = files_of(directory_of(clean, name), FileKind.PRODUCER_SNAPSHOT)[-1]
    entries = read_snapshot(DISK, path)
    assert {facts(entry) for entry in entries} == {
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
    assert encode_snapshot(entries) == Path(path).read_bytes()


@pytest.mark.parametrize("name", CLEAN)
def test_indexes_of_a_clean_log_are_sound_and_complete(clean: Path, name: str) -> None:
    directory = directory_of(clean, name)
    log = expected(name).log
    offsets = [offset_index(*file) for file in files_of(directory, FileKind.OFFSET_INDEX)]
    times = [time_index(*file) for file in files_of(directory, FileKind.TIME_INDEX)]
    for by_offset, by_time in zip(offsets, times, strict=True):
        by_offset.sanity_check()
        by_time.sanity_check()
        by_offset.close()
        by_time.close()
    assert [index.entry_count for index in offsets] == [
        segment.index_entries for segment in log.segments
    ]
    assert [index.entry_count for index in times] == [
        segment.time_index_entries for segment in log.segments
    ]


@pytest.mark.parametrize("name", CLEAN)
def test_aborted_transactions_are_kafkas(clean: Path, name: str) -> None:
    found = []
    for base_offset, path in files_of(directory_of(clean, name), FileKind.TRANSACTION_INDEX):
        index = TransactionIndex(DISK, path, start_offset=base_offset)
        index.sanity_check()
        found += list(index.entries())
        index.close()
    assert found == [
        (txn.producer_id, txn.first_offset, txn.last_offset, txn.last_stable_offset)
        for txn in expected(name).log.aborted_txns
    ]


def test_preallocated_indexes_that_a_killed_kafka_left_are_refused(tmp_path: Path) -> None:
    directory = extract("unclean/plain-0", tmp_path)
    *closed, active = files_of(directory, FileKind.OFFSET_INDEX)
    assert closed
    for file in closed:
        index = offset_index(*file)
        index.sanity_check()
        index.close()
    for unclosed in (
        offset_index(*active),
        time_index(*files_of(directory, FileKind.TIME_INDEX)[-1]),
    ):
        with pytest.raises(CorruptIndexError, match="corrupt"):
            unclosed.sanity_check()
        unclosed.close()


def test_identity_and_clean_shutdown_of_the_directory_are_read(clean: Path) -> None:
    identity = read_meta_properties(DISK, str(clean))
    assert identity is not None
    assert identity.node_id == NodeId(1)
    assert identity.directory_id is not None
    shutdown = read_clean_shutdown(DISK, str(clean))
    assert shutdown is not None
    assert shutdown.broker_epoch is not None


@pytest.mark.parametrize("name", OffsetCheckpointName)
def test_checkpoints_of_the_directory_are_read_and_written_alike(
    clean: Path, tmp_path: Path, name: OffsetCheckpointName
) -> None:
    offsets = OffsetCheckpoint(DISK, str(clean), name).read()
    OffsetCheckpoint(DISK, str(tmp_path), name).write(offsets)
    assert (tmp_path / name).read_bytes() == (clean / name).read_bytes()


def test_recovery_points_of_a_clean_directory_are_the_ends_of_its_logs(clean: Path) -> None:
    points = OffsetCheckpoint(DISK, str(clean), OffsetCheckpointName.RECOVERY_POINT).read()
    assert points[TopicPartition("plain", 0)] == expected("clean/plain-0").log.log_end_offset
