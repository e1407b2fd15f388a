"""Files go on being opened, and sent, when the process has no descriptors left."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ottla.model import ErrorCode
from ottla.runtime.bounded_disk import BoundedDisk
from ottla.runtime.network import Address, Connection
from ottla.runtime.system_disk import SystemDisk, SystemFile
from ottla.runtime.system_network import SystemNetwork
from ottla.simulation import SimulatedDisk
from ottla.storage.directories.log_store import LogStore


@contextmanager
def descriptors_left(count: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    # Whatever is free below the highest one is taken, so that the count is right.
    taken = [os.open("/dev/null", os.O_RDONLY) for _ in range(highest)]  # noqa: TID251
    limit = max(map(int, os.listdir("/proc/self/fd"))) + count
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)


def test_a_bounded_disk_spares_what_it_can_when_others_took_the_descriptors(
    tmp_path: Path,
) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=1_000)
    with descriptors_left(8):
        files = [disk.open(f"{tmp_path}/{number}", create=True) for number in range(30)]
        for number, file in enumerate(files):
            file.write_at(0, [b"%d" % number])
        for number, file in enumerate(files):
            assert file.read_at(0, 9) == b"%d" % number
    for file in files:
        file.close()


def test_a_disk_that_cannot_spare_any_says_so(tmp_path: Path) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=1_000)
    with descriptors_left(0), pytest.raises(OSError, match="Too many open files"):
        disk.open(f"{tmp_path}/file", create=True)


def test_a_log_directory_stays_in_use_when_descriptors_run_out() -> None:
    logs = LogStore(SimulatedDisk(), ["/data"])
    error = logs.storage_error("/data", OSError(errno.EMFILE, "Too many open files"))
    assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert "ulimit -n" in error.message
    assert [directory.path for directory in logs.directories] == ["/data"]
    logs.abandon()


class Undividable(SystemFile):
    """A file of a process that has no descriptor left for a second one."""

    def duplicate_descriptor(self) -> int:
        raise OSError(errno.EMFILE, "Too many open files")


def test_a_file_is_sent_without_a_descriptor_of_its_own_when_there_is_none(tmp_path: Path) -> None:
    path = f"{tmp_path}/file"
    SystemDisk().open(path, create=True).write_at(0, [b"0123456789"])

    async def scenario() -> bytes:
        file = Undividable(path, os.open(path, os.O_RDONLY))  # noqa: TID251

        class Sender:
            def connected(self, connection: Connection) -> None:
                connection.send_file(file, position=2, length=5)
                connection.close()

            def get_buffer(self, size_hint: int) -> bytearray:
                return bytearray(1)

            def buffer_filled(self, length: int) -> None: ...

            def pause_writing(self) -> None: ...

            def resume_writing(self) -> None: ...

            def closed(self, error: Exception | None) -> None: ...

        listener = await SystemNetwork().listen(Address("127.0.0.1", 0), Sender)
        reader, writer = await asyncio.open_connection(*listener.address)
        received = await reader.read()
        writer.close()
        listener.close()
        file.close()
        return received

    assert asyncio.run(scenario()) == b"23456"
