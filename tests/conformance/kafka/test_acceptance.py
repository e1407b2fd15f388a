"""What tests write by chance is really shown to Kafka, who does refuse what is wrong."""

from __future__ import annotations

import pytest

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.files.file_names import FileKind
from ottla.storage.log.log import Log
from tests.support.kafka import kafka_acceptance
from tests.support.kafka.kafka_acceptance import (
    ACCEPTED,
    assert_kafka_accepts,
    assert_kafka_accepts_index,
)
from tests.support.storage.batches import batch_of
from tests.support.storage.logs import DIRECTORY, append, new_log

pytestmark = [pytest.mark.java, pytest.mark.usefixtures("judge")]


@pytest.fixture(autouse=True)
def _everything_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_acceptance, "ONE_IN", 1)


def closed_log(disk: SimulatedDisk) -> Log:
    log = new_log(disk, segment_bytes=1_000, index_interval_bytes=0)
    for number in range(20):
        append(log, batch_of(b"%d" % number * 50, timestamp=1_000 + number))
    log.close()
    return log


def test_sound_directory_counts() -> None:
    disk, before = SimulatedDisk(), ACCEPTED["directories"]
    closed_log(disk)
    assert_kafka_accepts(disk, DIRECTORY)
    assert ACCEPTED["directories"] == before + 1


@pytest.mark.parametrize("kind", [FileKind.LOG, FileKind.OFFSET_INDEX, FileKind.TIME_INDEX])
def test_rotten_directory_is_refused(kind: FileKind) -> None:
    disk, before = SimulatedDisk(), ACCEPTED["directories"]
    log = closed_log(disk)
    path = log.segments.first.path(kind)
    disk.flip_bit(path, position=disk.file_size(path) - 1, bit=0)
    with pytest.raises(AssertionError, match="DumpLogSegments reports"):
        assert_kafka_accepts(disk, DIRECTORY)
    assert ACCEPTED["directories"] == before


def test_rotten_index_is_refused() -> None:
    disk = SimulatedDisk()
    path = closed_log(disk).segments.first.path(FileKind.OFFSET_INDEX)
    assert_kafka_accepts_index(disk, path)
    # Of the last entry's offset, the sign.
    disk.flip_bit(path, position=disk.file_size(path) - 8, bit=7)
    with pytest.raises(AssertionError, match="DumpLogSegments reports"):
        assert_kafka_accepts_index(disk, path)


def test_metadata_that_kafka_cannot_read_is_refused() -> None:
    disk = SimulatedDisk()
    closed_log(disk)
    with pytest.raises(AssertionError, match="Error at 0, skipping"):
        assert_kafka_accepts(disk, DIRECTORY, metadata=True)
