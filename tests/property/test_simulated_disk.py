"""What a power loss leaves can always be explained, and what was synced is always there.

Histories are lists of operations; each is replayed against a naive record of what every byte and
every name may be, and then crashed with a seed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.runtime.disk import File
from ottla.simulation import PowerLost, SeededDice, SimulatedDisk

SEEDS = st.integers(0, 2**32)
PATH = "/log"
SIZES = st.integers(0, 20_000)


@dataclass
class FileHistory:
    """What one file was at the last sync, and has been since."""

    contents: list[bytes] = field(default_factory=lambda: [b""])

    @property
    def content(self) -> bytes:
        return self.contents[-1]

    def write(self, position: int, data: bytes) -> None:
        padded = self.content.ljust(position, b"\0")
        self.contents.append(padded[:position] + data + padded[position + len(data) :])

    def truncate(self, size: int) -> None:
        self.contents.append(self.content[:size].ljust(size, b"\0"))

    def sync(self) -> None:
        self.contents = [self.content]

    def explains(self, found: bytes) -> bool:
        """Whether every byte was once there, or is a zero where there was none."""
        sizes = [len(content) for content in self.contents]
        if not min(sizes) <= len(found) <= max(sizes):
            return False
        padded = [content.ljust(len(found), b"\0") for content in self.contents]
        return all(byte in once for byte, *once in set(zip(found, *padded, strict=False)))


FILE_OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), SIZES, SIZES),
        st.tuples(st.just("append"), st.just(0), SIZES),
        st.tuples(st.just("truncate"), SIZES, st.just(0)),
        st.tuples(st.just("sync"), st.just(0), st.just(0)),
    ),
    max_size=8,
)


def run_file_history(operations: list[tuple[str, int, int]], file: File) -> FileHistory:
    history = FileHistory()
    for number, (kind, position, length) in enumerate(operations):
        if kind == "sync":
            file.sync()
            history.sync()
        elif kind == "truncate":
            file.truncate(position)
            history.truncate(position)
        elif length:
            at = len(history.content) if kind == "append" else position
            data = bytes([number + 1]) * length
            file.write_at(at, [data])
            history.write(at, data)
    return history


def durable_file(disk: SimulatedDisk) -> File:
    file = disk.open(PATH, create=True)
    disk.sync_directory("/")
    return file


@settings(max_examples=60, deadline=None)
@given(FILE_OPERATIONS, SEEDS)
def test_every_byte_after_a_crash_was_once_there_or_is_a_zero(
    operations: list[tuple[str, int, int]], seed: int
) -> None:
    disk = SimulatedDisk()
    history = run_file_history(operations, durable_file(disk))
    disk.crash(SeededDice(seed))
    found = disk.open(PATH).read_at(0, 1 << 20)
    assert history.explains(found)


@settings(max_examples=100, deadline=None)
@given(FILE_OPERATIONS, SEEDS)
def test_a_synced_file_survives_a_crash_as_it_was(
    operations: list[tuple[str, int, int]], seed: int
) -> None:
    disk = SimulatedDisk()
    history = run_file_history([*operations, ("sync", 0, 0)], durable_file(disk))
    disk.crash(SeededDice(seed))
    assert disk.open(PATH).read_at(0, 1 << 20) == history.content


@settings(max_examples=100, deadline=None)
@given(FILE_OPERATIONS, SEEDS)
def test_bytes_synced_before_an_append_survive_it(
    operations: list[tuple[str, int, int]], seed: int
) -> None:
    disk = SimulatedDisk()
    appends = [("append", 0, 700 * length % 9000 + 1) for _, _, length in operations]
    file = durable_file(disk)
    synced = run_file_history([*operations, ("sync", 0, 0)], file).content
    for number, (_, _, length) in enumerate(appends):
        file.write_at(file.size(), [bytes([100 + number]) * length])
    disk.crash(SeededDice(seed))
    assert disk.open(PATH).read_at(0, len(synced)) == synced


@settings(max_examples=100, deadline=None)
@given(FILE_OPERATIONS, SEEDS)
def test_killing_the_program_loses_nothing(
    operations: list[tuple[str, int, int]], seed: int
) -> None:
    disk = SimulatedDisk()
    file = durable_file(disk)
    history = run_file_history(operations, file)
    disk.kill()
    assert disk.open(PATH).read_at(0, 1 << 20) == history.content
    with pytest.raises(OSError, match="before a crash"):
        file.read_at(0, 1)


@settings(max_examples=100, deadline=None)
@given(FILE_OPERATIONS, SEEDS, SEEDS)
def test_one_seed_gives_one_disk_and_a_second_crash_changes_nothing(
    operations: list[tuple[str, int, int]], seed: int, other_seed: int
) -> None:
    found = []
    for _ in range(2):
        disk = SimulatedDisk()
        run_file_history(operations, durable_file(disk))
        disk.crash(SeededDice(seed))
        found.append(disk.open(PATH).read_at(0, 1 << 20))
        disk.crash(SeededDice(other_seed))
        found.append(disk.open(PATH).read_at(0, 1 << 20))
    assert found == [found[0]] * 4


NAMES = st.sampled_from(["/a/x", "/a/y", "/b/x", "/b/y"])
DIRECTORIES = st.sampled_from(["/a", "/b"])
NAME_OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), NAMES, NAMES),
        st.tuples(st.just("rename"), NAMES, NAMES),
        st.tuples(st.just("remove"), NAMES, NAMES),
        st.tuples(st.just("sync"), DIRECTORIES, DIRECTORIES),
    ),
    max_size=12,
)


@dataclass
class NameHistory:
    """Which file each name was at the last sync of its directory, and has been since.

    Every file is synced when it is created and holds its number, so that it can be identified.
    """

    names: dict[str, bytes] = field(default_factory=dict)
    possible: dict[str, set[bytes | None]] = field(
        default_factory=lambda: defaultdict(lambda: {None})
    )
    # Files whose creation is durable and that were not removed or replaced since.
    lasting: set[bytes] = field(default_factory=set)
    created: int = 0

    def put(self, name: str, identity: bytes | None) -> None:
        if name in self.names:
            self.lasting.discard(self.names[name])
        self._become(name, identity)

    def rename(self, old: str, new: str) -> None:
        identity = self.names[old]
        was_lasting = identity in self.lasting
        self.put(new, identity)
        self._become(old, None)
        if was_lasting:
            self.lasting.add(identity)

    def sync(self, directory: str) -> None:
        for name in list(self.possible):
            if name.startswith(f"{directory}/"):
                self.possible[name] = {self.names.get(name)}
        self.lasting |= {
            identity for name, identity in self.names.items() if name.startswith(f"{directory}/")
        }

    def _become(self, name: str, identity: bytes | None) -> None:
        self.possible[name].add(identity)
        self.names.pop(name, None)
        if identity is not None:
            self.names[name] = identity


def run_name_history(operations: list[tuple[str, str, str]], disk: SimulatedDisk) -> NameHistory:
    history = NameHistory()
    for kind, name, other in operations:
        if kind == "create" and name not in history.names:
            history.created += 1
            identity = str(history.created).encode()
            file = disk.open(name, create=True)
            file.write_at(0, [identity])
            file.sync()
            history.put(name, identity)
        elif kind == "rename" and name in history.names and name != other:
            disk.rename(name, other)
            history.rename(name, other)
        elif kind == "remove" and name in history.names:
            disk.remove(name)
            history.put(name, None)
        elif kind == "sync":
            disk.sync_directory(name)
            history.sync(name)
    return history


def names_found(disk: SimulatedDisk) -> dict[str, bytes]:
    return {
        f"{directory}/{name}": disk.open(f"{directory}/{name}").read_at(0, 99)
        for directory in ("/a", "/b")
        for name in disk.list_directory(directory)
    }


@settings(max_examples=400, deadline=None)
@given(NAME_OPERATIONS, SEEDS)
def test_a_name_after_a_crash_is_one_that_it_was_since_its_directory_was_synced(
    operations: list[tuple[str, str, str]], seed: int
) -> None:
    disk = SimulatedDisk()
    for directory in ("/a", "/b"):
        disk.make_directories(directory)
    disk.sync_directory("/")
    history = run_name_history(operations, disk)
    disk.crash(SeededDice(seed))
    found = names_found(disk)
    for name in ("/a/x", "/a/y", "/b/x", "/b/y"):
        assert found.get(name) in history.possible[name]
    assert len(set(found.values())) == len(found), "no file has two names"
    assert history.lasting <= set(found.values()), "a rename leaves the old name or the new"


@settings(max_examples=100, deadline=None)
@given(NAME_OPERATIONS, st.integers(0, 30), SEEDS)
def test_power_may_go_at_any_change(
    operations: list[tuple[str, str, str]], changes: int, seed: int
) -> None:
    disk = SimulatedDisk()
    for directory in ("/a", "/b"):
        disk.make_directories(directory)
    disk.sync_directory("/")
    disk.faults.power_off_after(changes)
    try:
        run_name_history(operations, disk)
    except PowerLost:
        with pytest.raises(PowerLost):
            disk.exists("/a")
    disk.crash(SeededDice(seed))
    assert disk.list_directory("/") == ["a", "b"]
