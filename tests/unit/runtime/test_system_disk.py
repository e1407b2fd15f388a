"""The operating system's files: one call each, whole writes, errors that say what to do."""

from __future__ import annotations

import errno
import os
import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from ottla.runtime.disk import Disk
from ottla.runtime.system_disk import BUFFERS_PER_CALL, SystemDisk, SystemFile


@pytest.fixture
def disk() -> SystemDisk:
    return SystemDisk()


@pytest.fixture
def file(disk: SystemDisk, tmp_path: Path) -> SystemFile:
    return disk.open(f"{tmp_path}/file", create=True)


def test_it_is_a_disk_and_can_be_pickled(disk: SystemDisk) -> None:
    as_disk: Disk = disk
    assert type(pickle.loads(pickle.dumps(as_disk))) is SystemDisk


def test_one_buffer_is_one_system_call(file: SystemFile, monkeypatch: pytest.MonkeyPatch) -> None:
    positions = []
    pwrite = os.pwrite

    def counted(descriptor: int, data: bytes, position: int) -> int:
        positions.append(position)
        return pwrite(descriptor, data, position)

    monkeypatch.setattr(os, "pwrite", counted)
    monkeypatch.setattr(os, "pwritev", None)
    assert file.write_at(3, [b"batch"]) == 5
    assert positions == [3]
    assert file.read_at(0, 99) == b"\0\0\0batch"


def test_more_buffers_than_one_call_takes_are_all_written_and_read(file: SystemFile) -> None:
    pieces = [bytes([number % 251]) * 3 for number in range(BUFFERS_PER_CALL * 2 + 1)]
    assert file.write_at(10, pieces) == 3 * len(pieces)
    buffers = [bytearray(3) for _ in pieces]
    assert file.read_into(10, buffers) == 3 * len(pieces)
    assert buffers == pieces


@pytest.mark.parametrize("buffers", [[b"abcdefgh"], [b"abc", b"", bytearray(b"defgh")]])
def test_a_short_write_goes_on_where_it_stopped(
    file: SystemFile, buffers: Sequence[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    pwritev, pwrite = os.pwritev, os.pwrite

    def short(descriptor: int, pieces: Sequence[bytes], position: int) -> int:
        return pwritev(descriptor, [b"".join(pieces)[:2]], position)

    monkeypatch.setattr(os, "pwritev", short)
    monkeypatch.setattr(os, "pwrite", lambda fd, data, position: pwrite(fd, data[:3], position))
    assert file.write_at(0, buffers) == 8
    assert file.read_at(0, 8) == b"abcdefgh"


def test_a_full_disk_says_how_much_was_written_and_what_to_do(
    file: SystemFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, position: pwrite(fd, data[:3], position))
    monkeypatch.setattr(os, "pwritev", full)
    with pytest.raises(OSError, match="3 bytes were written; free space") as raised:
        file.write_at(0, [b"abcdefgh"])
    assert raised.value.errno == errno.ENOSPC
    assert raised.value.filename == file.path


def test_the_kernels_own_full_device_is_reported(disk: SystemDisk) -> None:
    with pytest.raises(OSError, match="No space left") as raised:
        disk.open("/dev/full").write_at(0, [b"x"])
    assert raised.value.filename == "/dev/full"


def test_a_short_read_goes_on_until_the_file_ends(
    file: SystemFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_at(0, [b"abcdefgh"])
    pread, preadv = os.pread, os.preadv
    monkeypatch.setattr(os, "pread", lambda fd, length, at: pread(fd, min(length, 3), at))
    assert file.read_at(1, 99) == b"bcdefgh"
    monkeypatch.setattr(
        os,
        "preadv",
        lambda fd, buffers, at, flags: preadv(fd, [memoryview(buffers[0])[:3]], at, flags),
    )
    first, second = bytearray(5), bytearray(5)
    assert file.read_into(0, [first, second]) == 8
    assert first + second == b"abcdefgh\0\0"


def test_read_cached_reads_what_was_just_written(file: SystemFile) -> None:
    file.write_at(0, [b"abcdefgh"])
    assert file.read_cached(2, 3) == b"cde"
    assert file.read_cached(6, 99) == b"gh"
    assert file.read_cached(99, 1) == b""


def test_read_cached_is_none_where_the_device_would_have_to_be_read(
    file: SystemFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_at(0, [b"abcdefgh"])
    preadv = os.preadv

    def half_cached(fd: int, buffers: Sequence[bytearray], position: int, flags: int) -> int:
        assert flags == os.RWF_NOWAIT
        if position >= 4:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return preadv(fd, [memoryview(buffers[0])[: 4 - position]], position)

    monkeypatch.setattr(os, "preadv", half_cached)
    assert file.read_cached(0, 4) == b"abcd"
    assert file.read_cached(0, 8) is None
    assert file.read_cached(4, 4) is None


def test_read_cached_reads_plainly_where_the_file_system_has_no_support(
    file: SystemFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> int:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    file.write_at(0, [b"abcdefgh"])
    monkeypatch.setattr(os, "preadv", unsupported)
    assert file.read_cached(2, 99) == b"cdefgh"


def test_preallocation_reserves_blocks_and_keeps_the_size(file: SystemFile) -> None:
    file.write_at(0, [b"abc"])
    file.preallocate(0)
    blocks_before = os.stat(file.path).st_blocks
    file.preallocate(1 << 20)
    assert file.size() == 3
    assert file.read_at(0, 99) == b"abc"
    blocks = os.stat(file.path).st_blocks
    if blocks == blocks_before:
        pytest.skip("this file system cannot reserve")
    assert blocks * 512 >= 1 << 20


def test_errors_name_the_file_and_what_was_being_done(disk: SystemDisk, tmp_path: Path) -> None:
    path = f"{tmp_path}/file"
    disk.open(path, create=True).close()
    file = disk.open_readonly(path)
    for call, doing in (
        (lambda: file.write_at(7, [b"x"]), "while writing at 7"),
        (lambda: file.truncate(3), "while truncating to 3 bytes"),
        (lambda: file.preallocate(3), "while reserving 3 bytes"),
        (lambda: file.read_at(-1, 1), "while reading at -1"),
    ):
        with pytest.raises(OSError, match=doing) as raised:
            call()
        assert raised.value.filename == path


def test_every_call_on_a_closed_file_is_an_os_error(file: SystemFile) -> None:
    file.close()
    file.close()
    for call in (
        file.size,
        file.sync,
        file.duplicate_descriptor,
        lambda: file.read_at(0, 1),
        lambda: file.read_into(0, [bytearray(1)]),
        lambda: file.read_cached(0, 1),
        lambda: file.write_at(0, [b"x"]),
        lambda: file.truncate(0),
        lambda: file.preallocate(1),
    ):
        with pytest.raises(OSError, match="Bad file descriptor"):
            call()


def test_a_lock_is_held_by_one_until_it_is_closed(disk: SystemDisk, tmp_path: Path) -> None:
    path = f"{tmp_path}/.lock"
    lock = disk.lock(path)
    with pytest.raises(BlockingIOError, match="another process holds this lock") as raised:
        disk.lock(path)
    assert raised.value.filename == path
    lock.close()
    disk.lock(path).close()


def test_a_failed_lock_leaves_no_descriptor_open(disk: SystemDisk, tmp_path: Path) -> None:
    path = f"{tmp_path}/.lock"
    lock = disk.lock(path)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(BlockingIOError):
        disk.lock(path)
    assert len(os.listdir("/proc/self/fd")) == before
    lock.close()


def test_only_a_missing_name_does_not_exist(
    disk: SystemDisk, file: SystemFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not disk.exists(f"{file.path}/below")
    assert not disk.is_directory(f"{file.path}.missing")

    def failing(_path: str) -> os.stat_result:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "stat", failing)
    with pytest.raises(OSError, match="Input/output error"):
        disk.exists(file.path)


def test_a_duplicate_descriptor_outlives_the_file(file: SystemFile) -> None:
    file.write_at(0, [b"abc"])
    descriptor = file.duplicate_descriptor()
    file.close()
    assert os.pread(descriptor, 3, 0) == b"abc"
    os.close(descriptor)


def test_space_left_is_what_the_device_has(disk: SystemDisk, tmp_path: Path) -> None:
    assert 0 < disk.space_left(str(tmp_path)) < 1 << 60


def test_a_device_has_more_room_than_is_left(disk: SystemDisk, tmp_path: Path) -> None:
    assert disk.space_left(str(tmp_path)) <= disk.space_total(str(tmp_path)) < 1 << 60


def test_syncing_a_directory_needs_a_directory(disk: SystemDisk, file: SystemFile) -> None:
    disk.sync_directory(os.path.dirname(file.path))
    with pytest.raises(NotADirectoryError):
        disk.sync_directory(file.path)
