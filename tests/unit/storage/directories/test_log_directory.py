from __future__ import annotations

import pytest

from ottla.model import TopicPartition, Uuid
from ottla.runtime.dice import Dice
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import DirectoryState, FileKind
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of

ORDERS = TopicPartition("orders", 0)
PAYMENTS = TopicPartition("payments-eu", 3)
TOPIC_ID = Uuid(bytes(range(16)))
CONFIG = LogConfig(segment_bytes=1_000)


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


def opened(disk: SimulatedDisk) -> LogDirectory:
    directory = LogDirectory(disk, "/logs")
    directory.load(lambda _: CONFIG, now_ms=0)
    return directory


def with_records(disk: SimulatedDisk, *, count: int = 10) -> LogDirectory:
    directory = opened(disk)
    for partition in (ORDERS, PAYMENTS):
        log = directory.create_log(partition, TOPIC_ID, CONFIG, now_ms=0)
        for number in range(count):
            log.append_as_leader(batch_of(b"%d" % number), leader_epoch=0, now_ms=1_000)
        log.advance_high_watermark(count)
    return directory


def delete_log(directory: LogDirectory, partition: TopicPartition) -> str:
    return directory.set_aside({partition: TOPIC_ID}, DirectoryState.DELETE)[0]


def end_offsets(directory: LogDirectory) -> dict[TopicPartition, int]:
    return {partition: log.log_end_offset for partition, log in directory.logs.items()}


def test_logs_come_back_after_a_clean_shutdown_without_a_scan(disk: SimulatedDisk) -> None:
    with_records(disk).close(broker_epoch=7)
    disk.counters.bytes_read = 0

    directory = LogDirectory(disk, "/logs")
    directory.load(lambda _: CONFIG, now_ms=0)

    assert directory.had_clean_shutdown
    assert end_offsets(directory) == {ORDERS: 10, PAYMENTS: 10}
    assert directory.logs[ORDERS].high_watermark == 10
    assert directory.topic_id(PAYMENTS) == TOPIC_ID


def test_a_kill_leaves_no_marker_and_loses_nothing(disk: SimulatedDisk) -> None:
    with_records(disk)
    disk.kill()

    directory = opened(disk)

    assert not directory.had_clean_shutdown
    assert end_offsets(directory) == {ORDERS: 10, PAYMENTS: 10}


@pytest.mark.parametrize("seed", range(50))
def test_flushed_records_and_new_partitions_survive_power_loss(seed: int) -> None:
    disk = SimulatedDisk()
    directory = with_records(disk)
    directory.logs[ORDERS].flush()
    directory.write_checkpoints()
    disk.crash(SeededDice(seed))

    directory = opened(disk)

    assert set(directory.logs) == {ORDERS, PAYMENTS}
    assert directory.logs[ORDERS].log_end_offset == 10
    assert directory.logs[ORDERS].high_watermark == 10


def test_a_second_process_is_kept_out(disk: SimulatedDisk) -> None:
    directory = opened(disk)

    with pytest.raises(BlockingIOError):
        LogDirectory(disk, "/logs")

    directory.close(broker_epoch=1)
    opened(disk)


def test_the_marker_is_gone_while_logs_are_open(disk: SimulatedDisk) -> None:
    with_records(disk).close(broker_epoch=1)
    opened(disk)
    disk.crash(SeededDice(1))

    assert not opened(disk).had_clean_shutdown


def test_truncation_lowers_the_durable_recovery_point_first(disk: SimulatedDisk) -> None:
    directory = with_records(disk)
    log = directory.logs[ORDERS]
    log.flush()
    directory.write_checkpoints()

    log.truncate_to(4, now_ms=0)
    log.append_as_leader(batch_of(b"torn" * 10), leader_epoch=1, now_ms=1_000)
    disk.crash(_KeepEverything())
    path = "/logs/orders-0/00000000000000000000.log"
    file = disk.open(path)
    file.truncate(file.size() - 5)
    file.close()

    assert opened(disk).logs[ORDERS].log_end_offset == 4


def test_rot_below_the_recovery_point_takes_only_its_partition_offline(
    disk: SimulatedDisk,
) -> None:
    directory = with_records(disk)
    directory.logs[ORDERS].flush()
    directory.write_checkpoints()
    path = directory.logs[ORDERS].segments.active.path(FileKind.LOG)
    disk.kill()
    disk.flip_bit(path, position=70, bit=3)

    for _ in range(2):
        directory = opened(disk)
        assert set(directory.logs) == {PAYMENTS}
        assert isinstance(directory.offline[ORDERS], CorruptLogError)
        assert "were flushed to this disk" in str(directory.offline[ORDERS])
        directory.close(broker_epoch=1)


def test_a_deleted_partition_is_out_of_use_at_once_and_for_good(disk: SimulatedDisk) -> None:
    directory = with_records(disk)
    path = delete_log(directory, ORDERS)
    assert path.endswith("-delete")
    disk.crash(SeededDice(3))

    directory = opened(disk)

    assert set(directory.logs) == {PAYMENTS}
    (deleted,) = directory.deleted
    assert directory.deleted.path_of(deleted) == path


def test_a_deleted_partition_can_be_made_again(disk: SimulatedDisk) -> None:
    directory = with_records(disk)
    directory.purge(delete_log(directory, ORDERS))

    log = directory.create_log(ORDERS, TOPIC_ID, CONFIG, now_ms=0)

    assert log.log_end_offset == 0


@pytest.mark.parametrize("seed", range(20))
def test_a_partition_made_again_does_not_get_the_offsets_of_the_deleted_one(seed: int) -> None:
    disk = SimulatedDisk()
    directory = with_records(disk)
    directory.logs[ORDERS].delete_records_before(6)
    directory.logs[ORDERS].flush()
    directory.write_checkpoints()
    delete_log(directory, ORDERS)
    directory.create_log(ORDERS, TOPIC_ID, CONFIG, now_ms=0)
    disk.crash(SeededDice(seed))

    log = opened(disk).logs[ORDERS]

    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (0, 0, 0)


@pytest.mark.parametrize("seed", range(20))
def test_partitions_made_together_survive_power_loss(seed: int) -> None:
    disk = SimulatedDisk()
    partitions = {TopicPartition("orders", index): TOPIC_ID for index in range(10)}
    opened(disk).prepare_logs(partitions)
    disk.crash(SeededDice(seed))

    directory = opened(disk)

    assert set(directory.logs) == set(partitions)
    assert {directory.topic_id(partition) for partition in partitions} == {TOPIC_ID}


def test_a_stray_is_set_aside_and_stays(disk: SimulatedDisk) -> None:
    directory = with_records(disk)

    (path,) = directory.set_aside({ORDERS: TOPIC_ID}, DirectoryState.STRAY)
    disk.crash(SeededDice(3))

    assert path.endswith("-stray")
    assert set(opened(disk).logs) == {PAYMENTS}
    assert disk.exists(path)


def test_partitions_are_out_of_use_once_let_go_of_and_gone_once_renamed(
    disk: SimulatedDisk,
) -> None:
    directory = with_records(disk)
    directory.let_go([ORDERS])
    assert set(directory.logs) == {PAYMENTS}
    assert disk.exists(f"/logs/{ORDERS}")

    (path,) = directory.rename_aside({ORDERS: TOPIC_ID}, DirectoryState.DELETE)
    disk.crash(SeededDice(3))

    assert not disk.exists(f"/logs/{ORDERS}")
    assert disk.exists(path)
    assert set(opened(disk).logs) == {PAYMENTS}


@pytest.mark.parametrize("seed", range(20))
def test_a_crash_before_the_renames_brings_back_what_was_let_go_of(seed: int) -> None:
    disk = SimulatedDisk()
    directory = with_records(disk)
    directory.logs[ORDERS].flush()
    directory.let_go([ORDERS])
    directory.write_checkpoints()
    disk.crash(SeededDice(seed))

    assert opened(disk).logs[ORDERS].log_end_offset == 10


def test_letting_go_of_many_compacted_logs_writes_their_cleaner_offsets_once(
    disk: SimulatedDisk,
) -> None:
    directory = with_records(disk)
    for partition in (ORDERS, PAYMENTS):
        directory.cleaner_offsets.advance(partition, 5)
    syncs = disk.counters.syncs

    directory.let_go([ORDERS, PAYMENTS])

    # Of the new file and of the directory that it is in.
    assert disk.counters.syncs - syncs <= 2
    assert directory.cleaner_offsets.known(ORDERS) == 0
    assert directory.cleaner_offsets.known(PAYMENTS) == 0


def test_a_directory_knows_the_room_that_it_has(disk: SimulatedDisk) -> None:
    directory = with_records(disk)
    disk.limit_space(1 << 20)

    assert directory.usable_bytes == 1 << 20
    assert directory.total_bytes > 1 << 20


def test_deleted_records_stay_deleted(disk: SimulatedDisk) -> None:
    directory = with_records(disk)
    directory.logs[ORDERS].delete_records_before(6)
    directory.write_checkpoints()
    disk.kill()

    assert opened(disk).logs[ORDERS].log_start_offset == 6


def test_a_corrupt_checkpoint_costs_a_scan_and_no_data(disk: SimulatedDisk) -> None:
    with_records(disk).write_checkpoints()
    disk.kill()
    file = disk.open("/logs/recovery-point-offset-checkpoint")
    file.write_at(0, [b"nonsense"])
    file.close()

    assert end_offsets(opened(disk)) == {ORDERS: 10, PAYMENTS: 10}


def test_the_metadata_log_is_left_to_the_controller(disk: SimulatedDisk) -> None:
    disk.make_directories("/logs/__cluster_metadata-0")

    assert opened(disk).logs == {}
    assert disk.list_directory("/logs/__cluster_metadata-0") == []


def test_foreign_files_are_left_alone(disk: SimulatedDisk) -> None:
    disk.make_directories("/logs/lost+found")
    disk.open("/logs/README", create=True).close()

    assert opened(disk).logs == {}
    assert disk.exists("/logs/lost+found")


def _KeepEverything() -> Dice:  # noqa: N802
    return SeededDice(next(seed for seed in range(100) if _keeps_all(seed)))


def _keeps_all(seed: int) -> bool:
    disk = SimulatedDisk()
    file = disk.open("/probe", create=True)
    file.write_at(0, [b"x" * 9_000])
    disk.crash(SeededDice(seed))
    return disk.exists("/probe") and disk.file_size("/probe") == 9_000
