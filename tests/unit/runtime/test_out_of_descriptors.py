"""Files go on being opened, and sent, when the process has no descriptors left."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ottla.model import ErrorCode
from ottla.runtime.bounded_disk import BoundedDisk
from ottla.runtime.system_disk import SystemDisk
from ottla.simulation import SimulatedDisk
from ottla.storage.log_store import LogStore


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
