"""The metadata log: snapshots, what is kept and what a damaged directory still gives."""

from contextlib import suppress
from pathlib import Path

import pytest

from ottla.controller.formatting import initial_voter
from ottla.controller.metadata_log import METADATA_PARTITION, MetadataLog, MetadataLogConfig
from ottla.controller.metadata_log_loading import LoadedMetadata, open_metadata_log
from ottla.controller.snapshot_file import SnapshotVoters
from ottla.metadata import MetadataDelta, MetadataImage, MetadataReplay
from ottla.model import uuid_to_text
from ottla.raft import ControlRecord, OffsetAndEpoch, VoterSet
from ottla.raft.log import SnapshotNeeded, find_obstacle
from ottla.runtime.system_disk import SystemDisk
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import Operation
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.errors import CorruptLogError, StorageError
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata import decode_metadata_record
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from ottla.wire.stored.cluster_metadata.transactions import BeginTransactionRecord, NoOpRecord
from tests.support.controller.cluster_images import applied, broker, features, topic, uuid
from tests.support.controller.simulated_controllers import DIRECTORY, ENDPOINT, World
from tests.support.kafka.kafka_fixtures import expected, extract, partition_names

PATH = f"{DIRECTORY}/{METADATA_PARTITION}"
LOG = f"{PATH}/{0:020d}.log"
EPOCH = 1
VOTERS = SnapshotVoters(1, VoterSet.of([initial_voter(1, uuid(501), ENDPOINT)]).to_record())


def load(disk: SimulatedDisk, *, now_ms: int = 0) -> LoadedMetadata:
    return open_metadata_log(disk, DIRECTORY, MetadataLogConfig(), now_ms=now_ms)


def loaded_image(disk: SimulatedDisk) -> MetadataImage:
    """What all that is in the log says, once it is committed."""
    return load(disk).committed.replay_appended().image


def append(log: MetadataLog, records: list[Message]) -> None:
    log.append(records, epoch=EPOCH, metadata_version=30, now_ms=0)


def commit(log: MetadataLog) -> None:
    log.flush()
    log.commit(log.log_end_offset)


def take_snapshot(log: MetadataLog, image: MetadataImage) -> None:
    snapshot = log.prepare_snapshot(image, log.committed_offset, VOTERS, now_ms=0)
    assert snapshot is not None
    snapshot.write()
    log.complete_snapshot(snapshot, now_ms=0)


def write_topics(log: MetadataLog, image: MetadataImage, *names: str) -> MetadataImage:
    """Commits topics one by one; returns the image with them."""
    for name in names:
        records = topic(name, [1])
        append(log, records)
        commit(log)
        image = applied(image, records)
    return image


@pytest.mark.parametrize("name", ["clean", "unclean"])
def test_kafkas_snapshot_and_log_give_what_its_whole_log_gives(tmp_path: Path, name: str) -> None:
    directory = str(extract(name, tmp_path))
    log, committed, _ = open_metadata_log(SystemDisk(), directory, MetadataLogConfig(), now_ms=0)
    kafka = expected(f"{name}/{METADATA_PARTITION}")
    assert log.log_end_offset == kafka.log.log_end_offset
    whole = MetadataReplay(MetadataImage())
    for batch in kafka.batches:
        if not batch.is_control:
            values = [record.value for record in batch.records]
            records = [decode_metadata_record(value)[0] for value in values if value is not None]
            whole.take(records, MetadataDelta())
    assert committed.replay_appended().image == whole.image
    assert log.end.epoch == kafka.log.leader_epochs[-1].epoch
    log.abandon()


@pytest.mark.parametrize("name", ["clean", "unclean"])
def test_kafkas_topics_have_the_ids_that_their_directories_have(tmp_path: Path, name: str) -> None:
    directory = str(extract(name, tmp_path))
    log, committed, _ = open_metadata_log(SystemDisk(), directory, MetadataLogConfig(), now_ms=0)
    topics = committed.replay_appended().image.topics
    names = {each.removeprefix(f"{name}/") for each in partition_names(name)}
    found = {f"{each.name}-{number}" for each in topics for number in each.partitions}
    assert found == names - {str(METADATA_PARTITION)}
    for each in topics:
        assert uuid_to_text(each.id) == expected(f"{name}/{each.name}-0").log.topic_id
    log.abandon()


def test_appended_records_come_back() -> None:
    disk = World().disk
    log = load(disk).log
    records = [*features(), broker(1), *topic("orders", [1], [1])]
    append(log, records)
    log.close()
    assert loaded_image(disk) == applied(MetadataImage(), records)


def test_what_is_of_a_later_epoch_than_the_leaders_is_not_taken() -> None:
    """Who led has cut its log and follows another, while its answer was on its way."""
    leader, follower = (load(SimulatedDisk()).log for _ in range(2))
    append(leader, [NoOpRecord()])
    leader.append([NoOpRecord()], epoch=EPOCH + 1, metadata_version=30, now_ms=0)
    batches = leader.read(0, bytes_max=1 << 20).read()
    assert follower.append_fetched(batches, epoch=EPOCH, now_ms=0) == 1
    assert follower.log_end_offset == 1


def test_small_operation_is_one_batch() -> None:
    log = load(World().disk).log
    append(log, [NoOpRecord()] * 10_000)
    batches = list(log.read_from(0))
    assert [len(batch.records) for batch in batches] == [10_000]


@pytest.mark.parametrize(
    "records",
    [
        [NoOpRecord()] * 10_001,
        [ConfigRecord(resource_type=2, name=str(n), value="x" * 30_000) for n in range(300)],
    ],
    ids=["many", "large"],
)
def test_operation_that_does_not_fit_a_batch_becomes_a_transaction(records: list[Message]) -> None:
    disk = World().disk
    log = load(disk).log
    append(log, records)
    batches = list(log.read_from(0))
    assert len(batches) == 2
    assert type(batches[0].records[0]).__name__ == "BeginTransactionRecord"
    assert type(batches[-1].records[-1]).__name__ == "EndTransactionRecord"
    assert sum(len(batch.records) for batch in batches) == len(records) + 2
    assert log.log_end_offset == batches[-1].header.next_offset
    log.close()
    assert loaded_image(disk) == applied(MetadataImage(), records)


def test_operation_that_finds_no_room_leaves_nothing() -> None:
    disk = World().disk
    log = load(disk).log
    end = log.log_end_offset
    disk.limit_space(100_000)
    with pytest.raises(OSError, match="No space left"):
        append(log, [NoOpRecord()] * 20_000)
    assert log.log_end_offset == end
    disk.limit_space(None)
    append(log, [NoOpRecord()])
    log.close()
    assert load(disk).log.log_end_offset == end + 1


def test_unfinished_transaction_waits_when_the_log_is_loaded() -> None:
    disk = World().disk
    log = load(disk).log
    append(log, [BeginTransactionRecord(), *topic("orders", [1])])
    log.close()
    replay = load(disk).committed.replay_appended()
    assert replay.is_in_transaction
    assert not replay.image.topics


def test_snapshots_replace_the_log_before_the_one_that_is_kept_in_reserve() -> None:
    disk = World().disk
    log = load(disk).log
    append(log, [*features(), broker(1)])
    commit(log)
    image = write_topics(log, loaded_image(disk), "a", "b")
    ends = []
    for name in ("c", "d", "e"):
        image = write_topics(log, image, name)
        take_snapshot(log, image)
        ends.append(log.committed_offset)
    names = disk.list_directory(PATH)
    assert [name for name in names if name.endswith(".checkpoint")] == [
        f"{end:020d}-0000000001.checkpoint" for end in ends[1:]
    ]
    first_segment = min(int(name[:20]) for name in names if name.endswith(".log"))
    assert ends[0] <= first_segment <= ends[1]
    image = write_topics(log, image, "f")
    log.close()
    loaded = load(disk)
    assert loaded.committed.end_offset == ends[-1]
    assert loaded.committed.replay_appended().image == image
    assert [each for each in loaded.control_records if each.record in VOTERS.records()] == [
        ControlRecord(ends[-1] - 1, record) for record in VOTERS.records()
    ]


def test_a_log_that_is_opened_again_starts_at_its_earliest_snapshot_as_before() -> None:
    disk = World().disk
    log = load(disk).log
    append(log, [*features(), broker(1)])
    commit(log)
    image = write_topics(log, loaded_image(disk), "a", "b")
    # The snapshot ends within a segment, which therefore stays.
    records = topic("c", [1])
    append(log, records)
    take_snapshot(log, image)
    commit(log)
    take_snapshot(log, applied(image, records))
    start = log.start
    assert start.offset > min(
        int(name[:20]) for name in disk.list_directory(PATH) if name.endswith(".log")
    )
    log.close()

    log = load(disk).log

    assert log.start == start
    elsewhere = OffsetAndEpoch(start.offset - 1, EPOCH - 1)
    assert isinstance(find_obstacle(log, elsewhere), SnapshotNeeded)


def test_nothing_new_makes_no_new_snapshot() -> None:
    disk = World().disk
    log = load(disk).log
    append(log, features())
    commit(log)
    image = loaded_image(disk)
    take_snapshot(log, image)
    assert log.prepare_snapshot(image, log.committed_offset, None, now_ms=0) is None


def test_snapshot_is_due_after_so_many_bytes() -> None:
    disk = World().disk
    config = MetadataLogConfig(max_record_bytes_between_snapshots=1000)
    log, committed, _ = open_metadata_log(disk, DIRECTORY, config, now_ms=0)
    due = [log.is_snapshot_due]
    append(log, [NoOpRecord()] * 200)
    due.append(log.is_snapshot_due)
    commit(log)
    offset = log.committed_offset
    assert log.prepare_snapshot(committed.image, offset, None, now_ms=0) is not None
    due.append(log.is_snapshot_due)
    assert due == [False, True, False]


def test_snapshot_is_due_sooner_where_it_is_small_beside_the_log() -> None:
    disk = World().disk
    log, committed, _ = load(disk)
    # Twelve bytes each and more: past one mebibyte, and far from the twenty that are configured.
    append(log, [NoOpRecord()] * 100_000)
    commit(log)
    due = [log.is_snapshot_due]
    configs = [ConfigRecord(resource_type=2, name=str(n), value="x" * 20_000) for n in range(60)]
    take_snapshot(log, applied(committed.image, list(configs)))
    append(log, [NoOpRecord()] * 100_000)
    due.append(log.is_snapshot_due)
    assert due == [True, False]


def test_rotten_snapshot_is_replaced_by_the_one_before_and_the_log() -> None:
    disk = World().disk
    log = load(disk).log
    append(log, [*features(), broker(1)])
    commit(log)
    image = loaded_image(disk)
    for name in ("a", "b", "c"):
        image = write_topics(log, image, name)
        take_snapshot(log, image)
    image = write_topics(log, image, "d")
    log.close()
    *_, latest = sorted(name for name in disk.list_directory(PATH) if name.endswith(".checkpoint"))
    disk.flip_bit(f"{PATH}/{latest}", position=300, bit=0)
    assert loaded_image(disk) == image


def test_log_without_a_snapshot_to_begin_with_stays_closed() -> None:
    disk = World().disk
    log = load(disk).log
    append(log, features())
    commit(log)
    image = loaded_image(disk)
    for name in ("a", "b", "c"):
        image = write_topics(log, image, name)
        take_snapshot(log, image)
    log.close()
    for name in disk.list_directory(PATH):
        if name.endswith(".checkpoint"):
            disk.remove(f"{PATH}/{name}")
    with pytest.raises(StorageError, match="no snapshot up to that offset can be read"):
        load(disk)


def test_snapshot_beyond_the_log_begins_the_log_anew() -> None:
    """As with Kafka, whose followers fetch snapshots and whose logs are synced lazily."""
    disk = World().disk
    log = load(disk).log
    append(log, [*features(), broker(1), *topic("a", [1])])
    commit(log)
    image = loaded_image(disk)
    take_snapshot(log, image)
    end = log.log_end_offset
    log.close()
    for name in disk.list_directory(PATH):
        if not name.endswith((".checkpoint", "partition.metadata", "quorum-state")):
            disk.remove(f"{PATH}/{name}")
    loaded = load(disk)
    assert loaded.committed.image == image
    assert loaded.log.end == OffsetAndEpoch(end, EPOCH)


def test_torn_end_of_the_log_is_cut() -> None:
    disk = World().disk
    log = load(disk).log
    append(log, features())
    commit(log)
    end = log.log_end_offset
    append(log, topic("lost", [1]))
    size = disk.file_size(LOG)
    file = disk.open(LOG)
    file.truncate(size - 5)
    disk.kill()
    loaded = load(disk)
    assert loaded.log.log_end_offset == end
    assert not loaded.committed.replay_appended().image.topics


def test_rot_below_what_is_known_to_be_safe_is_not_cut() -> None:
    disk = World().disk
    log = load(disk).log
    append(log, [*features(), *topic("kept", [1])])
    log.close()
    disk.flip_bit(LOG, position=disk.file_size(LOG) - 10, bit=0)
    with pytest.raises(CorruptLogError, match="were flushed to this disk"):
        load(disk)


def test_failing_disk_is_reported() -> None:
    disk = World().disk
    log = load(disk).log
    disk.faults.fail(PATH, Operation.SYNC)
    append(log, [NoOpRecord()])
    with pytest.raises(OSError, match="simulated"):
        log.flush()
    assert log.flushed_end_offset < log.log_end_offset


@pytest.mark.parametrize("seed", range(60))
def test_rot_anywhere_gives_the_image_or_an_error(seed: int) -> None:
    """Never anything else: no byte of the directory is believed."""
    disk = World().disk
    log = load(disk).log
    append(log, [*features(), broker(1)])
    commit(log)
    image = loaded_image(disk)
    for name in ("a", "b", "c"):
        image = write_topics(log, image, name)
        if name != "c":
            take_snapshot(log, image)
    log.close()
    dice = SeededDice(seed)
    files = [name for name in disk.list_directory(PATH) if disk.file_size(f"{PATH}/{name}")]
    disk.rot(f"{PATH}/{dice.choice(files)}", dice)
    with suppress(StorageError):
        assert loaded_image(disk) == image
