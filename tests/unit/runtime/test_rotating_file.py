"""A rotating file keeps whole lines, a limited number of files, and its owner's secrets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ottla.runtime.rotating_file import RotatingFile
from ottla.runtime.system_disk import SystemDisk
from ottla.simulation import SimulatedDisk

PATH = "/logs/audit.log"


def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directories("/logs")
    return made


def opened(made: SimulatedDisk, *, bytes_max: int = 10, files_max: int = 3) -> RotatingFile:
    return RotatingFile(made, PATH, bytes_max=bytes_max, files_max=files_max)


def content(made: SimulatedDisk, number: int = 0) -> bytes:
    path = f"{PATH}.{number}" if number else PATH
    return made.open_readonly(path).read_at(0, made.file_size(path))


def test_full_file_is_renamed_and_the_oldest_is_removed() -> None:
    made = disk()
    file = opened(made)
    file.append([b"line %d" % number for number in range(5)])
    assert made.list_directory("/logs") == ["audit.log", "audit.log.1", "audit.log.2"]
    assert [content(made, number) for number in range(3)] == [b"line 4\n", b"line 3\n", b"line 2\n"]


def test_lines_share_a_file_until_it_is_full() -> None:
    made = disk()
    file = opened(made)
    for line in (b"abcd", b"efgh", b"ijkl"):
        file.append([line])
    assert content(made, 1) == b"abcd\nefgh\n"
    assert content(made) == b"ijkl\n"


def test_line_that_is_larger_than_a_file_is_whole() -> None:
    made = disk()
    file = opened(made)
    file.append([b"x" * 30, b"y"])
    assert content(made, 1) == b"x" * 30 + b"\n"
    assert content(made) == b"y\n"


def test_one_file_is_emptied() -> None:
    made = disk()
    file = opened(made, files_max=1)
    file.append([b"abcdefgh", b"ijkl"])
    assert made.list_directory("/logs") == ["audit.log"]
    assert content(made) == b"ijkl\n"


def test_file_goes_on_after_a_restart_even_in_the_middle_of_a_line() -> None:
    made = disk()
    opened(made, bytes_max=100).append([b"first"])
    file = made.open(PATH)
    file.write_at(file.size(), [b"sec"])
    again = opened(made, bytes_max=100)
    again.append([b"third"])
    assert content(made) == b"first\nsec\nthird\n"


def test_fewer_files_are_kept_after_the_limit_is_lowered() -> None:
    made = disk()
    opened(made, files_max=5).append([b"line %d" % number for number in range(9)])
    assert len(made.list_directory("/logs")) == 5
    opened(made, files_max=2)
    assert made.list_directory("/logs") == ["audit.log", "audit.log.1"]


def test_writing_goes_on_after_a_full_disk() -> None:
    made = disk()
    file = opened(made, bytes_max=100)
    file.append([b"first"])
    made.limit_space(2)
    with pytest.raises(OSError, match="space"):
        file.append([b"second"])
    made.limit_space(None)
    file.append([b"third!"])
    assert content(made) == b"first\nthird!\n"


def test_only_the_owner_can_read(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.touch(mode=0o644)
    umask = os.umask(0)
    try:
        file = RotatingFile(SystemDisk(), str(path), bytes_max=10, files_max=2)
        file.append([b"abcdefgh", b"ijkl"])
        file.close()
    finally:
        os.umask(umask)
    modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
    assert modes == {"audit.log": 0o600, "audit.log.1": 0o600}
