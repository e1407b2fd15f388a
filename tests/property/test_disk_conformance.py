"""Every disk behaves like the naive one, whatever a program does to it.

One machine drives a disk and the model through the same calls and compares what comes back: bytes,
sizes, names, or the error. It runs over the operating system's files, over those with so few
descriptors that nearly every call opens a file again, and over the simulated disk.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from ottla.runtime.bounded_disk import BoundedDisk
from ottla.runtime.disk import Disk, File
from ottla.runtime.system_disk import SystemDisk
from ottla.simulation.disk.disk import SimulatedDisk
from tests.support.storage.naive_disk import NaiveDisk, NaiveFile

DIRECTORIES = ["d", "e", "d/e"]
FILES = ["d/x", "d/y", "e/x", "d/e/x"]
NAMES = st.sampled_from(DIRECTORIES + FILES)
POSITIONS = st.integers(0, 9000)
DATA = st.builds(lambda byte, length: bytes([byte]) * length, st.integers(1, 255), POSITIONS)
PICK = st.integers(0, 7)


class Opened(NamedTuple):
    file: File
    model: NaiveFile
    writable: bool


class DiskMachine(RuleBasedStateMachine):
    """Calls against one disk and the model. Subclasses say which disk."""

    def __init__(self) -> None:
        super().__init__()
        self.base = tempfile.mkdtemp(prefix="ottla-disk-")
        self.disk = self.make_disk()
        self.disk.make_directories(self.base)
        self.model = NaiveDisk(directories={self.base})
        self.opened: list[Opened] = []
        self.locks: list[Opened] = []

    def make_disk(self) -> Disk:
        raise NotImplementedError

    def teardown(self) -> None:
        for opened in self.opened + self.locks:
            opened.file.close()
        shutil.rmtree(self.base)

    @initialize()
    def begin_with_open_files(self) -> None:
        for number, name in enumerate(FILES):
            self.make_directories(name.rpartition("/")[0])
            self.open(name, create=True)
            self.write(number, 0, [name.encode()])

    @rule(name=NAMES)
    def make_directories(self, name: str) -> None:
        path = self.path(name)
        self.same(
            lambda: self.disk.make_directories(path), lambda: self.model.make_directories(path)
        )

    @precondition(lambda self: len(self.opened) < 8)
    @rule(name=NAMES, create=st.booleans())
    def open(self, name: str, create: bool) -> None:
        path = self.path(name)
        pair = self.same(
            lambda: self.disk.open(path, create=create),
            lambda: self.model.open(path, create=create),
            compare=False,
        )
        if pair is not None:
            self.opened.append(Opened(*pair, writable=True))

    @precondition(lambda self: len(self.opened) < 8)
    @rule(name=NAMES)
    def open_readonly(self, name: str) -> None:
        path = self.path(name)
        if path in self.model.directories:
            return
        pair = self.same(
            lambda: self.disk.open_readonly(path),
            lambda: self.model.open(path, create=False),
            compare=False,
        )
        if pair is not None:
            self.opened.append(Opened(*pair, writable=False))

    @precondition(lambda self: self.opened)
    @rule(pick=PICK, position=POSITIONS, buffers=st.lists(DATA, max_size=3))
    def write(self, pick: int, position: int, buffers: list[bytes]) -> None:
        opened = self.pick(pick)
        if not opened.writable:
            with pytest.raises(OSError, match=r"writing|reading"):
                opened.file.write_at(position, [b"x"])
            return
        assert opened.file.write_at(position, buffers) == sum(map(len, buffers))
        opened.model.write(position, b"".join(buffers))

    @precondition(lambda self: self.opened)
    @rule(pick=PICK, position=POSITIONS, length=POSITIONS)
    def read(self, pick: int, position: int, length: int) -> None:
        file, model, _ = self.pick(pick)
        expected = model.read(position, length)
        assert file.read_at(position, length) == expected
        assert file.read_cached(position, length) in (expected, None)
        half = length // 2
        buffers: list[bytearray] = [bytearray(half), bytearray(length - half)]
        assert file.read_into(position, buffers) == len(expected)
        assert b"".join(buffers) == expected.ljust(length, b"\0")

    @precondition(lambda self: self.opened)
    @rule(pick=PICK, size=POSITIONS)
    def truncate(self, pick: int, size: int) -> None:
        opened = self.pick(pick)
        if opened.writable:
            opened.file.truncate(size)
            opened.model.truncate(size)

    @precondition(lambda self: self.opened)
    @rule(pick=PICK, size=POSITIONS)
    def preallocate(self, pick: int, size: int) -> None:
        opened = self.pick(pick)
        if opened.writable:
            opened.file.preallocate(size)

    @precondition(lambda self: self.opened)
    @rule(pick=PICK)
    def look_at(self, pick: int) -> None:
        file, model, _ = self.pick(pick)
        assert file.size() == len(model.content)
        descriptor = file.duplicate_descriptor()
        if descriptor is not None:
            assert os.pread(descriptor, 9000, 0) == model.content[:9000]
            os.close(descriptor)

    @precondition(lambda self: self.opened)
    @rule(pick=PICK)
    def sync(self, pick: int) -> None:
        self.pick(pick).file.sync()

    @precondition(lambda self: self.opened)
    @rule(pick=PICK)
    def close(self, pick: int) -> None:
        opened = self.pick(pick)
        self.opened.remove(opened)
        opened.file.close()
        with pytest.raises(OSError, match=r".+"):
            opened.file.read_at(0, 1)
        opened.file.close()

    @rule(
        names=st.one_of(
            st.tuples(st.sampled_from(FILES), st.sampled_from(FILES)),
            st.tuples(st.sampled_from(DIRECTORIES), st.sampled_from(DIRECTORIES)),
            st.tuples(NAMES, NAMES),
        )
    )
    def rename(self, names: tuple[str, str]) -> None:
        source, target = map(self.path, names)
        # Several things can be wrong with a rename at once; which is named is the kernel's choice.
        _, model_error = _outcome(lambda: self.model.rename(source, target))
        _, error = _outcome(lambda: self.disk.rename(source, target))
        assert (error is None) == (model_error is None), (error, model_error)

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        path = self.path(name)
        self.same(lambda: self.disk.remove(path), lambda: self.model.remove(path))

    @rule(name=NAMES)
    def remove_directory(self, name: str) -> None:
        path = self.path(name)
        self.same(
            lambda: self.disk.remove_directory(path), lambda: self.model.remove_directory(path)
        )

    @rule(name=NAMES)
    def look_up(self, name: str) -> None:
        path = self.path(name)
        self.same(lambda: self.disk.exists(path), lambda: self.model.exists(path))
        self.same(lambda: self.disk.is_directory(path), lambda: path in self.model.directories)
        self.same(lambda: self.disk.list_directory(path), lambda: self.model.names(path))
        if path in self.model.files:
            assert self.disk.file_size(path) == len(self.model.files[path].content)

    @rule(name=NAMES)
    def sync_directory(self, name: str) -> None:
        path = self.path(name)
        self.same(
            lambda: self.disk.sync_directory(path),
            lambda: self.model.names(path),
            compare=False,
        )

    @rule(name=NAMES)
    def lock(self, name: str) -> None:
        path = self.path(name)
        pair = self.same(
            lambda: self.disk.lock(path), lambda: _naive_lock(self.model, path), compare=False
        )
        if pair is not None:
            self.locks.append(Opened(*pair, writable=True))

    @precondition(lambda self: self.locks)
    @rule()
    def unlock(self) -> None:
        file, model, _ = self.locks.pop()
        file.close()
        model.locked = False

    def path(self, name: str) -> str:
        return f"{self.base}/{name}"

    def pick(self, pick: int) -> Opened:
        return self.opened[pick % len(self.opened)]

    def same(
        self, call: Callable[[], Any], model: Callable[[], Any], *, compare: bool = True
    ) -> tuple[Any, Any] | None:
        """Both results, or None if both fail alike."""
        expected, model_error = _outcome(model)
        found, error = _outcome(call)
        assert error == model_error
        if error is not None:
            return None
        if compare:
            assert found == expected
        return found, expected


class SystemDiskMachine(DiskMachine):
    def make_disk(self) -> Disk:
        return SystemDisk()


class BoundedDiskMachine(DiskMachine):
    def make_disk(self) -> Disk:
        return BoundedDisk(SystemDisk(), descriptors=2)


class SimulatedDiskMachine(DiskMachine):
    def make_disk(self) -> Disk:
        return SimulatedDisk()


class BoundedSimulatedDiskMachine(DiskMachine):
    def make_disk(self) -> Disk:
        return BoundedDisk(SimulatedDisk(), descriptors=1)


def _outcome(call: Callable[[], Any]) -> tuple[Any, str | None]:
    try:
        return call(), None
    except OSError as error:
        return None, errno.errorcode[error.errno or 0]


def _naive_lock(model: NaiveDisk, path: str) -> NaiveFile:
    file = model.open(path, create=True)
    if file.locked:
        raise BlockingIOError(errno.EAGAIN, path)
    file.locked = True
    return file


_FEW = settings(max_examples=80, stateful_step_count=50, deadline=None)

TestSystemDisk = SystemDiskMachine.TestCase
TestSystemDisk.settings = _FEW
TestBoundedDisk = BoundedDiskMachine.TestCase
TestBoundedDisk.settings = _FEW
TestSimulatedDisk = SimulatedDiskMachine.TestCase
TestSimulatedDisk.settings = _FEW
TestBoundedSimulatedDisk = BoundedSimulatedDiskMachine.TestCase
TestBoundedSimulatedDisk.settings = _FEW
