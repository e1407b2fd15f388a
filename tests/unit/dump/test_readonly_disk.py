"""A tool that looks at files cannot change them, whatever reader it uses."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from ottla.dump.readonly_disk import ReadonlyDisk
from ottla.runtime.system_disk import SystemDisk

DISK = ReadonlyDisk(SystemDisk())


@pytest.mark.parametrize(
    "change",
    [
        lambda path: DISK.open(path + "-new", create=True),
        lambda path: DISK.make_directories(path + "-new"),
        lambda path: DISK.rename(path, path + "-new"),
        DISK.remove,
        DISK.remove_directory,
        DISK.sync_directory,
        lambda path: DISK.sync_directories([path]),
        DISK.lock,
    ],
)
def test_every_change_is_refused(tmp_path: Path, change: Callable[[str], object]) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    with pytest.raises(OSError, match="only reads") as caught:
        change(str(path))
    assert caught.value.errno == errno.EROFS
    assert [found.name for found in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"content"


def test_open_file_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    file = DISK.open(str(path))
    with pytest.raises(OSError, match="Bad file descriptor"):
        file.write_at(0, [b"changed"])
    file.close()
    assert path.read_bytes() == b"content"


def test_reading_is_let_through(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    assert DISK.exists(str(path))
    assert DISK.file_size(str(path)) == 7
    assert DISK.is_directory(str(tmp_path))
    assert DISK.list_directory(str(tmp_path)) == ["file"]
    assert DISK.space_left(str(tmp_path)) > 0
    file = DISK.open_readonly(str(path))
    assert file.read_at(0, 99) == b"content"
    file.close()
