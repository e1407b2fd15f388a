"""Many logs are made, opened, recovered and closed with a few syncs of them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.model import TopicPartition, Uuid
from ottla.runtime.system_disk import SystemDisk
from ottla.simulation import SeededDice, SimulatedDisk
from ottla.simulation.disk.disk_faults import Operation
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.log.flush import TOGETHER_MIN
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of

CONFIG = LogConfig()
TOPIC_ID = Uuid(bytes(range(16)))
PARTITIONS = [TopicPartition("orders", index) for index in range(TOGETHER_MIN + 1)]
SEEDS = range(20)


def opened(disk: SimulatedDisk, path: str = "/logs") -> LogDirectory:
    directory = LogDirectory(disk, path)
    directory.load(lambda _: CONFIG, now_ms=0)
    return directory


def with_logs(disk: SimulatedDisk) -> LogDirectory:
    directory = opened(disk)
    directory.prepare_logs(dict.fromkeys(PARTITIONS, TOPIC_ID))
    for partition in PARTITIONS:
        directory.open_prepared_log(partition, CONFIG, now_ms=0)
    return directory


def with_records(disk: SimulatedDisk) -> LogDirectory:
    directory = with_logs(disk)
    for log in directory.logs.values():
        for number in range(3):
            log.append_as_leader(batch_of(b"%d" % number), leader_epoch=number, now_ms=1_000)
    return directory


def end_offsets(directory: LogDirectory) -> set[int]:
    return {log.log_end_offset for log in directory.logs.values()}


@pytest.mark.parametrize("seed", SEEDS)
def test_new_logs_survive_power_loss(seed: int) -> None:
    disk = SimulatedDisk()
    with_logs(disk)
    disk.crash(SeededDice(seed))

    directory = opened(disk)

    assert set(directory.logs) == set(PARTITIONS)
    assert {directory.topic_id(partition) for partition in PARTITIONS} == {TOPIC_ID}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_closed_survives_power_loss_and_needs_no_recovery(seed: int) -> None:
    disk = SimulatedDisk()
    with_records(disk).close(broker_epoch=1)
    disk.crash(SeededDice(seed))

    directory = opened(disk)

    assert directory.had_clean_shutdown
    assert end_offsets(directory) == {3}
    assert {log.epochs.latest_epoch for log in directory.logs.values()} == {2}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_recovered_survives_power_loss(seed: int) -> None:
    disk = SimulatedDisk()
    with_records(disk)
    disk.kill()
    recovered = opened(disk)
    assert {log.recovery_point for log in recovered.logs.values()} == {3}
    disk.crash(SeededDice(seed))

    directory = opened(disk)

    assert end_offsets(directory) == {3}
    assert {log.epochs.latest_epoch for log in directory.logs.values()} == {2}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_close_that_fails_half_way_takes_back_nothing_that_was_flushed(seed: int) -> None:
    disk = SimulatedDisk()
    directory = with_records(disk)
    for log in directory.logs.values():
        log.flush()
        log.append_as_leader(batch_of(b"not flushed"), leader_epoch=7, now_ms=1_000)
    directory.write_checkpoints()
    disk.faults.fail(f"/logs/{PARTITIONS[seed % len(PARTITIONS)]}", Operation.SYNC)
    with pytest.raises(OSError, match="simulated"):
        directory.close(broker_epoch=1)
    disk.crash(SeededDice(seed))
    disk.faults.heal(f"/logs/{PARTITIONS[seed % len(PARTITIONS)]}")

    again = opened(disk)

    assert not again.had_clean_shutdown
    assert not again.offline
    assert end_offsets(again) <= {3, 4}


def test_a_directory_that_was_not_loaded_to_the_end_is_not_closed_cleanly() -> None:
    disk = SimulatedDisk()
    with_records(disk).close(broker_epoch=1)
    directory = LogDirectory(disk, "/logs")
    for _, step in zip(range(2), directory.load_in_steps(lambda _: CONFIG, now_ms=0), strict=False):
        step()
    directory.close(broker_epoch=2)

    again = opened(disk)

    assert not again.had_clean_shutdown
    assert end_offsets(again) == {3}


def test_files_of_an_older_log_are_found_where_a_new_one_is_made() -> None:
    disk = SimulatedDisk()
    with_records(disk).abandon()
    (partition, *_) = PARTITIONS

    log = LogDirectory(disk, "/logs").open_prepared_log(partition, CONFIG, now_ms=0)

    assert log.log_end_offset == 3


def test_directories_are_synced_on_a_real_disk(tmp_path: Path) -> None:
    disk = SystemDisk()
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(b"content")
    (tmp_path / "a" / "below").mkdir()

    disk.sync_directories([str(tmp_path), str(tmp_path / "a")])

    with pytest.raises(FileNotFoundError):
        disk.sync_directories([str(tmp_path / "b")])


def test_directories_are_synced_where_the_system_has_no_call_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ottla.runtime.system_disk.sync_file_system", lambda _descriptor: False)
    test_directories_are_synced_on_a_real_disk(tmp_path)
