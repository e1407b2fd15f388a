from __future__ import annotations

import pytest

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.directories.clean_shutdown import (
    CleanShutdown,
    read_clean_shutdown,
    remove_clean_shutdown,
    write_clean_shutdown,
)
from ottla.storage.files.durable_file import read_file, replace_file

PATH = "/logs/.kafka_cleanshutdown"


def new_disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories("/logs")
    disk.sync_directory("/")
    return disk


def test_marker_is_kafkas_json() -> None:
    disk = new_disk()
    write_clean_shutdown(disk, "/logs", broker_epoch=42)
    assert read_file(disk, PATH) == b'{"version":0,"brokerEpoch":42}'
    assert read_clean_shutdown(disk, "/logs") == CleanShutdown(42)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"brokerEpoch":"x"}', b"\xff"])
def test_marker_without_an_epoch_is_still_a_marker(content: bytes) -> None:
    disk = new_disk()
    replace_file(disk, PATH, content)
    assert read_clean_shutdown(disk, "/logs") == CleanShutdown(None)


@pytest.mark.parametrize("seed", range(8))
def test_removed_marker_stays_removed_through_a_crash(seed: int) -> None:
    disk = new_disk()
    write_clean_shutdown(disk, "/logs", broker_epoch=42)
    remove_clean_shutdown(disk, "/logs")
    disk.crash(SeededDice(seed))
    assert read_clean_shutdown(disk, "/logs") is None
    remove_clean_shutdown(disk, "/logs")
