from __future__ import annotations

import pytest

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.files.durable_file import read_file, remove_file, replace_file

PATH = "/logs/checkpoint"
SEEDS = range(12)


def disk_with(content: bytes) -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories("/logs")
    disk.sync_directory("/")
    replace_file(disk, PATH, content)
    return disk


def test_replaced_file_reads_back() -> None:
    disk = disk_with(b"a longer old content")
    assert read_file(disk, PATH) == b"a longer old content"
    replace_file(disk, PATH, b"new")
    assert read_file(disk, PATH) == b"new"
    assert disk.list_directory("/logs") == ["checkpoint"]


def test_missing_file_reads_as_none() -> None:
    assert read_file(SimulatedDisk(), "/nothing") is None


@pytest.mark.parametrize("seed", SEEDS)
def test_no_crash_after_replacing_brings_the_old_content_back(seed: int) -> None:
    disk = disk_with(b"old")
    replace_file(disk, PATH, b"new")
    disk.crash(SeededDice(seed))
    assert read_file(disk, PATH) == b"new"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("changes", range(6))
def test_crash_while_replacing_leaves_the_old_content_or_the_new(changes: int, seed: int) -> None:
    disk = disk_with(b"old")
    disk.faults.power_off_after(changes)
    with pytest.raises(PowerLost):
        replace_file(disk, PATH, b"much newer")
    disk.crash(SeededDice(seed))
    assert read_file(disk, PATH) in (b"old", b"much newer")
    replace_file(disk, PATH, b"next")
    assert read_file(disk, PATH) == b"next"


@pytest.mark.parametrize("seed", SEEDS)
def test_no_crash_after_removing_brings_the_file_back(seed: int) -> None:
    disk = disk_with(b"old")
    remove_file(disk, PATH)
    disk.crash(SeededDice(seed))
    assert read_file(disk, PATH) is None
    remove_file(disk, PATH)
