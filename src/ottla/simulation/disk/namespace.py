"""The directory tree of a simulated disk: as programs see it, and as it is on the device.

A name change (create, rename, remove) is durable once the directory of the name is synced. Until
then a power loss may undo it, within these limits:

- the changes of one name are applied in order: if a change is kept, so are all earlier ones;
- a rename is applied completely or not at all, even between two directories. Syncing either
  directory makes both sides durable, as a journal would, together with the names of the directories
  above the new place, so the file always has a name;
- the name of a directory belongs to its parent. If the parent was not synced, a power loss may
  remove a synced directory with everything in it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from ottla.simulation.disk.file_content import FileContent

_PATHS_REMEMBERED_MAX: Final = 4_096


class Directory:
    """The entries of one directory, as programs see them and as they are on the device."""

    __slots__ = ("durable", "entries")

    def __init__(self) -> None:
        self.entries: dict[str, Node] = {}
        self.durable: dict[str, Node] = {}


Node: TypeAlias = Directory | FileContent


class NamePlace(NamedTuple):
    """A name within a directory. Directories compare by identity, names by text."""

    directory: Directory
    name: str


class NameChange(NamedTuple):
    """A node is removed from a place, added to a place, or moved."""

    sequence: int
    node: Node
    old: NamePlace | None
    new: NamePlace | None
    needs: frozenset[NamePlace]

    @property
    def places(self) -> set[NamePlace]:
        return {place for place in (self.old, self.new) if place is not None}

    def is_in(self, directory: Directory) -> bool:
        old, new = self.old, self.new
        return (old is not None and old.directory is directory) or (
            new is not None and new.directory is directory
        )


class Namespace:
    """A directory tree with its unsynced changes. Paths are absolute; '/' always exists."""

    def __init__(self) -> None:
        self.root = Directory()
        self.pending: list[NameChange] = []

    def find(self, path: str) -> Node:
        node: Node = self.root
        for name in parts(path):
            node = _entries(node, path).get(name) or _missing(path)
        return node

    def find_directory(self, path: str) -> Directory:
        node = self.find(path)
        _entries(node, path)
        assert isinstance(node, Directory)
        return node

    def find_file(self, path: str) -> FileContent:
        node = self.find(path)
        if isinstance(node, Directory):
            raise failure(errno.EISDIR, path)
        return node

    def place(self, path: str) -> NamePlace:
        """The place of this name, whether or not it exists. Its directory has to exist."""
        *above, name = parts(path) or ("",)
        if not name:
            raise failure(errno.EBUSY, path)
        return NamePlace(self.find_directory("/".join(above)), name)

    def link(self, sequence: int, place: NamePlace, node: Node) -> None:
        self._change(NameChange(sequence, node, None, place, frozenset()))

    def unlink(self, sequence: int, place: NamePlace) -> None:
        node = place.directory.entries[place.name]
        self._change(NameChange(sequence, node, place, None, frozenset()))

    def rename(self, sequence: int, old: str, new: str) -> None:
        node = self.find(old)
        source, target = self.place(old), self.place(new)
        if source == target:
            return
        if parts(new)[: len(parts(old))] == parts(old):
            raise failure(errno.EINVAL, new)
        _check_replaceable(node, target.directory.entries.get(target.name), new)
        moves = source.directory is not target.directory
        needs = frozenset(self._places_above(new) if moves else ())
        self._change(NameChange(sequence, node, source, target, needs))

    def sync(self, directory: Directory) -> None:
        """Makes this directory's changes durable, and the earlier changes that they depend on."""
        wanted: set[NamePlace] = set()
        durable, pending = [], []
        for change in reversed(self.pending):
            if change.is_in(directory) or (wanted and not wanted.isdisjoint(change.places)):
                wanted |= change.places | change.needs
                durable.append(change)
            else:
                pending.append(change)
        for change in reversed(durable):
            _apply(change)
        self.pending = pending[::-1]

    def lose_power(self, arrives: Callable[[NameChange], bool]) -> None:
        """Reduces the tree to the changes for which `arrives` is true.

        A change that depends on a lost change is lost too.
        """
        lost: set[NamePlace] = set()
        for change in self.pending:
            if arrives(change) and lost.isdisjoint(change.places | change.needs):
                _apply(change)
            else:
                lost |= change.places
        self.pending.clear()
        _forget_volatile(self.root)

    def files(self) -> Iterator[FileContent]:
        """All files that programs see."""
        waiting = [self.root]
        while waiting:
            for node in waiting.pop().entries.values():
                if isinstance(node, Directory):
                    waiting.append(node)
                else:
                    yield node

    def _change(self, change: NameChange) -> None:
        if change.old is not None:
            del change.old.directory.entries[change.old.name]
        if change.new is not None:
            change.new.directory.entries[change.new.name] = change.node
        self.pending.append(change)

    def _places_above(self, path: str) -> Iterator[NamePlace]:
        above = parts(path)[:-1]
        for depth in range(1, len(above) + 1):
            yield self.place("/".join(above[:depth]))


@lru_cache(maxsize=_PATHS_REMEMBERED_MAX)
def parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


def failure(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)


def _missing(path: str) -> Node:
    raise failure(errno.ENOENT, path)


def _entries(node: Node, path: str) -> dict[str, Node]:
    if isinstance(node, FileContent):
        raise failure(errno.ENOTDIR, path)
    return node.entries


def _check_replaceable(node: Node, replaced: Node | None, path: str) -> None:
    if replaced is None:
        return
    if isinstance(replaced, Directory):
        if not isinstance(node, Directory):
            raise failure(errno.EISDIR, path)
        if replaced.entries:
            raise failure(errno.ENOTEMPTY, path)
    elif isinstance(node, Directory):
        raise failure(errno.ENOTDIR, path)


def _apply(change: NameChange) -> None:
    if change.old is not None:
        del change.old.directory.durable[change.old.name]
    if change.new is not None:
        change.new.directory.durable[change.new.name] = change.node


def _forget_volatile(directory: Directory) -> None:
    directory.entries = dict(directory.durable)
    for node in directory.entries.values():
        if isinstance(node, Directory):
            _forget_volatile(node)
