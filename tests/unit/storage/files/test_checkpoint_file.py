from __future__ import annotations

import pytest

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.errors import CorruptCheckpointError
from ottla.storage.files.checkpoint_file import CheckpointFile, parse_integer
from ottla.storage.files.durable_file import read_file

PATH = "/numbers-checkpoint"


def checkpoint(disk: SimulatedDisk) -> CheckpointFile[int]:
    return CheckpointFile(disk, PATH, str, lambda words: parse_integer(" ".join(words)))


def checkpoint_of(content: bytes) -> CheckpointFile[int]:
    disk = SimulatedDisk()
    disk.open(PATH, create=True).write_at(0, [content])
    return checkpoint(disk)


def test_file_is_version_count_and_a_line_for_each_entry() -> None:
    disk = SimulatedDisk()
    checkpoint(disk).write([7, -2])
    assert read_file(disk, PATH) == b"0\n2\n7\n-2\n"
    assert checkpoint(disk).read() == [7, -2]


@pytest.mark.parametrize("content", [b"", b"0\n", b"0\n0\n"])
def test_file_without_entries_is_an_empty_list(content: bytes) -> None:
    assert checkpoint_of(content).read() == []


def test_missing_file_is_an_empty_list() -> None:
    assert checkpoint(SimulatedDisk()).read() == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"1\n0\n", "line 1 declares version 1"),
        (b"x\n0\n", "line 1 is 'x'"),
        (b"0\nmany\n7\n", "line 2 is 'many'"),
        (b"0\n2\n7\n", "line 2 declares 2 entries, but 1 follow"),
        (b"0\n1\n7\n8\n", "line 2 declares 1 entries, but 2 follow"),
        (b"0\n2\n7\nseven\n", "line 4 is 'seven'"),
        (b"0\n2\n7\n\n", "line 4 is ''"),
        (b"0\n1\n\xff\n", "byte 4 is not UTF-8"),
        (b"0\n1\n9223372036854775808\n", "line 3 is"),
    ],
)
def test_what_does_not_parse_is_refused_by_file_and_line(content: bytes, reason: str) -> None:
    with pytest.raises(CorruptCheckpointError) as refusal:
        checkpoint_of(content).read()
    assert str(refusal.value).startswith(f"{PATH} is corrupt: {reason}")


@pytest.mark.parametrize("word", ["", "1_000", " 1", "0x10", "1.0", "\uff19", "9" * 20, "9" * 5000])
def test_only_what_java_calls_a_long_is_an_integer(word: str) -> None:
    with pytest.raises(ValueError, match="is not an integer"):
        parse_integer(word)
