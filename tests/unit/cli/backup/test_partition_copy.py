"""The files of one partition's copy, over several runs."""

from __future__ import annotations

from ottla.cli.backup.manifest import (
    BackupManifest,
    SavedFile,
    damaged_files,
    read_manifest,
    write_manifest,
)
from ottla.cli.backup.partition_copy import PartitionCopy
from ottla.model import LeaderEpoch, Offset, TopicPartition, Uuid
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.wire.records import assign_offset_and_epoch
from tests.support.storage.batches import batch_of

TOPIC_ID = Uuid(bytes(range(16)))
ROOT = "/backup"


def records(first: int, count: int) -> memoryview:
    """Batches of one record each."""
    found = bytearray()
    for offset in range(first, first + count):
        batch = batch_of(b"value")
        assign_offset_and_epoch(batch, 0, base_offset=Offset(offset), leader_epoch=LeaderEpoch(3))
        found += batch
    return memoryview(found)


def new_copy(disk: SimulatedDisk) -> PartitionCopy:
    return PartitionCopy(disk, ROOT, "orders-0", TOPIC_ID)


def begun_copy(disk: SimulatedDisk) -> PartitionCopy:
    disk.make_directories(ROOT)
    copy = new_copy(disk)
    copy.begin(10)
    return copy


def test_copies_whole_batches_up_to_the_end() -> None:
    copy = begun_copy(SimulatedDisk())
    assert copy.append(records(10, 5)[:-1], 100)
    assert copy.position == 14
    copy.append(records(12, 8), 17)
    assert copy.position == 17
    saved = copy.saved(())
    assert [file.name for file in saved.files] == ["00000000000000000010.log"]
    assert saved.files[0].size == len(records(10, 7))


def test_continues_an_interrupted_run_after_the_last_whole_batch() -> None:
    disk = SimulatedDisk()
    begun_copy(disk).append(records(10, 5), 100)
    path = f"{ROOT}/orders-0/00000000000000000010.log"
    file = disk.open(path)
    file.truncate(file.size() - 1)
    file.close()
    copy = new_copy(disk)
    assert copy.resume(None)
    assert copy.position == 14
    copy.append(records(14, 2), 100)
    assert [file.name for file in copy.saved(()).files] == [
        "00000000000000000010.log",
        "00000000000000000014.log",
    ]


def test_a_copy_of_another_topic_is_not_continued() -> None:
    disk = SimulatedDisk()
    begun_copy(disk).append(records(10, 5), 100)
    assert not PartitionCopy(disk, ROOT, "orders-0", Uuid(bytes(15) + b"\x07")).resume(None)


def test_a_finished_backup_stays_intact_while_a_later_run_adds_to_it() -> None:
    disk = SimulatedDisk()
    copy = begun_copy(disk)
    copy.append(records(10, 5), 100)
    copy.sync()
    disk.make_directories(f"{ROOT}/__cluster_metadata-0")
    disk.open(f"{ROOT}/__cluster_metadata-0/s", create=True).close()
    partitions = {TopicPartition("orders", 0): copy.saved(())}
    manifest = BackupManifest("cluster", 1, SavedFile("s", 0, 0), partitions)
    write_manifest(disk, ROOT, manifest)
    assert read_manifest(disk, ROOT) == manifest

    later = new_copy(disk)
    assert later.resume(partitions[TopicPartition("orders", 0)])
    later.append(records(15, 5), 100)
    assert later.position == 20
    assert not damaged_files(disk, ROOT, manifest)

    file = disk.open(f"{ROOT}/orders-0/00000000000000000010.log")
    file.write_at(70, [b"?"])
    file.close()
    [damaged] = damaged_files(disk, ROOT, manifest)
    assert "its checksum is wrong" in damaged
