"""Snapshots written, read back, and not believed when anything is wrong with them."""

from contextlib import suppress

import pytest

from ottla.controller.snapshot_file import Snapshot, SnapshotId, SnapshotVoters, read_snapshot
from ottla.controller.snapshots import Snapshots
from ottla.metadata import MetadataDelta, MetadataImage, MetadataReplay
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.errors import CorruptSnapshotError
from ottla.wire.stored.quorum import VotersRecord, VotersRecordVoter
from tests.support.controller.cluster_images import one_broker, topic

ID = SnapshotId(74, 3)
PATH = f"/{ID.file_name}"
VOTERS = SnapshotVoters(1, VotersRecord(voters=[VotersRecordVoter(voter_id=1)]))


def snapshot(disk: SimulatedDisk, image: MetadataImage) -> Snapshot:
    return Snapshot(
        disk=disk,
        path=PATH,
        id=ID,
        records=image,
        metadata_version=30,
        voters=VOTERS,
        last_contained_log_timestamp=5,
        now_ms=7,
    )


def image_in(disk: SimulatedDisk) -> MetadataImage:
    replay = MetadataReplay(MetadataImage())
    for batch in read_snapshot(disk, PATH):
        if not batch.header.is_control:
            replay.take(batch.records, MetadataDelta())
    return replay.image


def small_image() -> MetadataImage:
    return one_broker(topic("orders", [1], [1]))


def written() -> SimulatedDisk:
    disk = SimulatedDisk()
    snapshot(disk, small_image()).write()
    return disk


def test_snapshot_holds_the_image() -> None:
    assert image_in(written()) == small_image()


def test_batches_have_offsets_of_their_own_and_the_epoch_of_the_snapshot() -> None:
    batches = list(read_snapshot(written(), PATH))
    expected = 0
    for batch in batches:
        assert batch.header.base_offset == expected
        assert batch.header.leader_epoch == 3
        expected = batch.header.next_offset
    assert [type(record).__name__ for record in batches[0].records] == [
        "SnapshotHeaderRecord",
        "KRaftVersionRecord",
        "VotersRecord",
    ]
    assert [type(record).__name__ for record in batches[-1].records] == ["SnapshotFooterRecord"]


def test_large_image_takes_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ottla.controller.record_batches.BATCH_RECORDS_MAX", 3)
    disk = written()
    assert len(list(read_snapshot(disk, PATH))) > 4
    assert image_in(disk) == small_image()


def test_snapshot_cut_anywhere_is_refused() -> None:
    size = written().file_size(PATH)
    for length in range(size):
        disk = written()
        file = disk.open(PATH)
        file.truncate(length)
        with pytest.raises(CorruptSnapshotError, match="not a complete snapshot"):
            image_in(disk)


def test_rotten_snapshot_is_refused() -> None:
    dice = SeededDice(1)
    for _ in range(200):
        disk = written()
        position = disk.rot(PATH, dice)
        # Base offset and leader epoch are outside of a batch's checksum, and mean nothing here.
        with suppress(CorruptSnapshotError):
            assert image_in(disk) == small_image(), position


def test_nothing_follows_the_footer() -> None:
    disk = written()
    file = disk.open(PATH)
    content = file.read_at(0, file.size())
    file.write_at(file.size(), [content])
    with pytest.raises(CorruptSnapshotError, match="after its footer"):
        image_in(disk)


@pytest.mark.parametrize("seed", range(50))
def test_crash_leaves_the_whole_snapshot_or_none(seed: int) -> None:
    dice = SeededDice(seed)
    disk = SimulatedDisk()
    disk.faults.power_off_after(dice.below(8))
    is_written = False
    with suppress(PowerLost):
        snapshot(disk, small_image()).write()
        is_written = True
    disk.crash(dice)
    found = Snapshots(disk, "/").ids
    assert list(found) in ([], [ID])
    assert found or not is_written
    if found:
        assert image_in(disk) == small_image()
    # What was on its way goes.
    assert set(disk.list_directory("/")) == {each.file_name for each in found}


def test_names_are_kafkas() -> None:
    assert ID.file_name == "00000000000000000074-0000000003.checkpoint"
    assert SnapshotId.parse(ID.file_name) == ID
    for name in ("leader-epoch-checkpoint", f"{ID.file_name}.part", "74-3.checkpoint"):
        assert SnapshotId.parse(name) is None
