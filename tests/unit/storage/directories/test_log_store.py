from __future__ import annotations

import errno

import pytest

from ottla.model import ErrorCode, KafkaError, TopicPartition, Uuid
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.directories.log_store import LogStore
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of

TOPIC_ID = Uuid(bytes(range(16)))
CONFIG = LogConfig()


def partition(number: int) -> TopicPartition:
    return TopicPartition("orders", number)


def store_with(disk: SimulatedDisk, *, partitions: int) -> LogStore:
    store = LogStore(disk, ["/a", "/b"])
    for directory in store.directories:
        directory.load(lambda _: CONFIG, now_ms=0)
    for number in range(partitions):
        store.create_log(partition(number), TOPIC_ID, CONFIG, now_ms=0)
    return store


def test_new_logs_go_where_there_are_fewest() -> None:
    store = store_with(SimulatedDisk(), partitions=6)

    assert [len(directory.logs) for directory in store.directories] == [3, 3]
    assert len(list(store)) == 6


def test_a_failed_directory_takes_only_its_own_partitions_offline() -> None:
    disk = SimulatedDisk()
    store = store_with(disk, partitions=4)
    lost = set(store.directories[0].logs)
    error = OSError(errno.EIO, "Input/output error")

    assert set(store.take_offline("/a", error)) == lost

    assert store.failed == {"/a": error}
    assert all(store.get(each) is None for each in lost)
    kept = store.get(next(iter(store.directories[0].logs)))
    assert kept is not None
    kept.append_as_leader(batch_of(b"still here"), leader_epoch=0, now_ms=1_000)


def test_a_full_disk_refuses_appends_and_serves_reads() -> None:
    disk = SimulatedDisk()
    store = store_with(disk, partitions=2)
    log = next(iter(store))
    log.append_as_leader(batch_of(b"before"), leader_epoch=0, now_ms=1_000)
    disk.limit_space(10)

    with pytest.raises(OSError, match="No space left") as caught:
        log.append_as_leader(batch_of(b"x" * 1_000), leader_epoch=0, now_ms=1_000)
    failure = store.storage_error("/a", caught.value)

    assert failure.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert "free space" in failure.message
    assert store.failed == {}
    assert log.read(0, bytes_max=1_000, upper_offset=1) is not None
    disk.limit_space(None)
    assert log.append_as_leader(batch_of(b"y"), leader_epoch=0, now_ms=1_000).first_offset == 1


def test_a_full_disk_goes_offline_where_others_have_the_records() -> None:
    store = store_with(SimulatedDisk(), partitions=2)

    failure = store.storage_error("/a", OSError(errno.ENOSPC, "No space left"), is_replicated=True)

    assert failure.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert list(store.failed) == ["/a"]


def test_a_failing_disk_is_reported_to_the_client_and_goes_offline() -> None:
    store = store_with(SimulatedDisk(), partitions=2)

    failure = store.storage_error("/a", OSError(errno.EIO, "Input/output error"))

    assert failure.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert "offline" in failure.message
    assert list(store.failed) == ["/a"]


def test_without_any_directory_the_reasons_are_named() -> None:
    store = store_with(SimulatedDisk(), partitions=0)
    for path in ("/a", "/b"):
        store.take_offline(path, OSError(errno.EIO, "Input/output error"))

    with pytest.raises(OSError, match=r"/a: .*; /b: "):
        store.create_log(partition(0), TOPIC_ID, CONFIG, now_ms=0)


def test_a_locked_directory_stops_the_start_and_frees_the_others() -> None:
    disk = SimulatedDisk()
    other = LogStore(disk, ["/b"])

    with pytest.raises(BlockingIOError):
        LogStore(disk, ["/a", "/b"])

    other.close(broker_epoch=1)
    LogStore(disk, ["/a", "/b"])


def test_a_store_closed_cleanly_opens_with_all_its_logs() -> None:
    disk = SimulatedDisk()
    store = store_with(disk, partitions=5)
    for log in store:
        log.append_as_leader(batch_of(b"kept"), leader_epoch=0, now_ms=1_000)
    store.close(broker_epoch=1)

    store = store_with(disk, partitions=0)

    assert sorted(log.partition for log in store) == [partition(number) for number in range(5)]
    assert {log.log_end_offset for log in store} == {1}


def test_errors_are_kafka_errors() -> None:
    assert isinstance(
        store_with(SimulatedDisk(), partitions=0).storage_error("/a", OSError(errno.ENOSPC, "")),
        KafkaError,
    )
