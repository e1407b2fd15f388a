"""An in-memory disk with power loss, torn writes, bit rot, full space, I/O errors and slow calls.

Without configured faults it behaves like `SystemDisk`. The effect of a power loss on file contents
is in file_content.py, its effect on names in namespace.py.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence

from ottla.runtime.dice import Dice
from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk_faults import DiskFaults, Operation, canonical
from ottla.simulation.disk.file_content import FileContent, WriteFate
from ottla.simulation.disk.namespace import Directory, NameChange, Namespace, failure, parts
from ottla.simulation.disk.simulated_file import SimulatedFile

_ROOM_UNLIMITED = 1 << 50


class SimulatedDisk:
    """The files of a host. The disk outlives processes; `crash` and `kill` end them.

    For use by one thread. Handles opened before a `crash` or `kill` raise `OSError`, except on
    `close`, which does nothing.
    """

    def __init__(self) -> None:
        self.counters = DiskCounters()
        self.faults = DiskFaults()
        self.generation = 0
        self._names = Namespace()
        self._locked: set[FileContent] = set()
        self._sequence = 0
        self._room: int | None = None

    def open(self, path: str, *, create: bool = False) -> SimulatedFile:
        self._look_up(path)
        self.counters.opens += 1
        return SimulatedFile(self, path, self._find_or_create(path, create=create))

    def open_readonly(self, path: str) -> SimulatedFile:
        self._look_up(path)
        self.counters.opens += 1
        content = self._names.find_file(path)
        return SimulatedFile(self, path, content, writable=False)

    def open_private(self, path: str) -> SimulatedFile:
        """The same as `open`: a simulation has no permissions."""
        return self.open(path, create=True)

    def exists(self, path: str) -> bool:
        self._look_up(path)
        try:
            self._names.find(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def file_size(self, path: str) -> int:
        self._look_up(path)
        return len(self._names.find_file(path).volatile)

    def list_directory(self, path: str) -> list[str]:
        self._look_up(path)
        return sorted(self._names.find_directory(path).entries)

    def is_directory(self, path: str) -> bool:
        return self.exists(path) and isinstance(self._names.find(path), Directory)

    def make_directories(self, path: str) -> None:
        self._look_up(path)
        names = parts(path)
        for depth in range(1, len(names) + 1):
            place = self._names.place("/".join(names[:depth]))
            found = place.directory.entries.get(place.name)
            if found is None:
                self._begin_change(path)
                self._names.link(self.next_sequence(), place, Directory())
            elif not isinstance(found, Directory):
                raise failure(errno.EEXIST if depth == len(names) else errno.ENOTDIR, path)

    def rename(self, old: str, new: str) -> None:
        self._begin_change(old, new)
        self.counters.renames += 1
        self._names.rename(self.next_sequence(), old, new)

    def remove(self, path: str) -> None:
        self._begin_change(path)
        self._names.find_file(path)
        self._names.unlink(self.next_sequence(), self._names.place(path))

    def remove_directory(self, path: str) -> None:
        self._begin_change(path)
        if self._names.find_directory(path).entries:
            raise failure(errno.ENOTEMPTY, path)
        self._names.unlink(self.next_sequence(), self._names.place(path))

    def sync_directory(self, path: str) -> None:
        self._begin_change(path)
        self.counters.directory_syncs += 1
        self._names.sync(self._names.find_directory(path))

    def sync_directories(self, paths: Sequence[str]) -> None:
        for path in paths:
            for name in self.list_directory(path):
                if not self.is_directory(f"{path}/{name}"):
                    self.open_readonly(f"{path}/{name}").sync()
            self.sync_directory(path)

    def space_left(self, path: str) -> int:
        self._look_up(path)
        self._names.find(path)
        return self.room_left()

    def space_total(self, path: str) -> int:
        self._look_up(path)
        self._names.find(path)
        return _ROOM_UNLIMITED if self._room is None else self._room

    def lock(self, path: str) -> SimulatedFile:
        self._look_up(path)
        content = self._find_or_create(path, create=True)
        if content in self._locked:
            raise BlockingIOError(errno.EAGAIN, "another program holds this lock", path)
        self._locked.add(content)
        return SimulatedFile(self, path, content, on_close=self._locked.discard)

    def kill(self) -> None:
        """Ends the process but not the host: written data stays, handles and locks are invalid."""
        self.generation += 1
        self._locked.clear()
        self.faults.power_on()

    def crash(self, dice: Dice) -> None:
        """Loses power. Afterwards the disk is in one of the states that are possible on a real one.

        Five outcomes are equally likely: all unsynced changes are kept; all are lost; all up to
        some moment are kept; names and sizes are kept but data is lost; or each file and name has
        its own outcome.
        """
        self.kill()
        fate = dice.choice(tuple(WriteFate))
        cut = self._moment(dice)
        self._names.lose_power(self._names_arriving(fate, dice, cut))
        for content in self._names.files():
            if fate is WriteFate.SCATTERED:
                own = dice.choice(tuple(WriteFate))
                content.lose_power(own, dice, _own_moment(content, dice))
            else:
                content.lose_power(fate, dice, cut)

    def flip_bit(self, path: str, *, position: int, bit: int) -> None:
        """Flips one bit (0 to 7) of the byte at a position, on the device and in the page cache."""
        content = self._names.find_file(path)
        assert 0 <= position < len(content.durable), "only what is on the device rots"
        content.flip_bit(position * 8 + bit)

    def durable_size(self, path: str) -> int:
        """The number of bytes of a file that are durable."""
        return len(self._names.find_file(path).durable)

    def content(self, path: str) -> bytes:
        """The content of a file as programs read it."""
        return bytes(self._names.find_file(path).volatile)

    def rot(self, path: str, dice: Dice) -> int:
        """Flips a random bit in the durable part of a file and returns the position of its byte."""
        position = dice.below(len(self._names.find_file(path).durable))
        self.flip_bit(path, position=position, bit=dice.below(8))
        return position

    def limit_space(self, bytes_left: int | None) -> None:
        """Sets the free space from now on; None removes the limit."""
        self._room = None if bytes_left is None else self._used() + bytes_left

    def room_left(self) -> int:
        return _ROOM_UNLIMITED if self._room is None else max(self._room - self._used(), 0)

    def next_sequence(self) -> int:
        """The sequence number of the next change, in one order for the whole disk."""
        self._sequence += 1
        return self._sequence

    def _used(self) -> int:
        return sum(content.allocated for content in self._names.files())

    def _find_or_create(self, path: str, *, create: bool) -> FileContent:
        if create:
            place = self._names.place(path)
            if place.name not in place.directory.entries:
                self._begin_change(path)
                self._names.link(self.next_sequence(), place, FileContent())
        return self._names.find_file(path)

    def _look_up(self, path: str) -> None:
        self.faults.meet(Operation.LOOKUP, canonical(path))

    def _begin_change(self, *paths: str) -> None:
        self.faults.meet(Operation.NAMES, *map(canonical, paths))

    def _moment(self, dice: Dice) -> int:
        """The sequence number at which power was lost: that of a random unsynced change."""
        moments = [change.sequence for change in self._names.pending]
        for content in self._names.files():
            moments.extend(change.sequence for change in content.pending)
        return dice.choice(sorted(moments)) if moments else 0

    def _names_arriving(
        self, fate: WriteFate, dice: Dice, cut: int
    ) -> Callable[[NameChange], bool]:
        match fate:
            case WriteFate.KEPT | WriteFate.METADATA:
                return lambda _change: True
            case WriteFate.LOST:
                return lambda _change: False
            case WriteFate.PREFIX:
                return lambda change: change.sequence < cut
            case WriteFate.SCATTERED if dice.chance(0.5):
                return lambda _change: dice.chance(0.5)
            case _:
                return self._names_in_order(dice)

    def _names_in_order(self, dice: Dice) -> Callable[[NameChange], bool]:
        """Keeps name changes in order up to some moment, a different one for each directory."""
        moments: dict[Directory, int] = {}

        def arrives(change: NameChange) -> bool:
            for place in change.places:
                if place.directory not in moments:
                    moments[place.directory] = self._moment(dice)
            return all(change.sequence < moments[place.directory] for place in change.places)

        return arrives


def _own_moment(content: FileContent, dice: Dice) -> int:
    return dice.choice(content.pending).sequence if content.pending else 0
