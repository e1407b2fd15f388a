from __future__ import annotations

import pytest

from ottla.model import TopicPartition
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.durable_file import read_file, replace_file


def open_checkpoint(disk: SimulatedDisk) -> OffsetCheckpoint:
    disk.make_directories("/logs")
    return OffsetCheckpoint(disk, "/logs", OffsetCheckpointName.RECOVERY_POINT)


def test_line_is_topic_partition_and_offset() -> None:
    disk = SimulatedDisk()
    offsets = {TopicPartition("orders", 0): 1043, TopicPartition("a.b-c_d", 12): 2**62}
    open_checkpoint(disk).write(offsets)
    content = read_file(disk, "/logs/recovery-point-offset-checkpoint")
    assert content == b"0\n2\norders 0 1043\na.b-c_d 12 4611686018427387904\n"
    assert open_checkpoint(disk).read() == offsets


def test_missing_file_has_no_offsets() -> None:
    assert open_checkpoint(SimulatedDisk()).read() == {}


@pytest.mark.parametrize("line", ["orders 0", "orders zero 5", "orders 0 5 6"])
def test_line_that_is_no_offset_of_a_partition_is_refused(line: str) -> None:
    checkpoint = open_checkpoint(disk := SimulatedDisk())
    replace_file(disk, checkpoint.path, f"0\n1\n{line}\n".encode())
    with pytest.raises(CorruptCheckpointError, match="line 3"):
        checkpoint.read()
