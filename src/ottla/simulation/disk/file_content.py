"""The bytes of one simulated file, in the page cache and on the device.

`volatile` is the page cache. `durable` is the device. `pending` are the changes since the last
sync, in order, each with the data it wrote. A sync applies them all to the device; a power loss
applies a random part of them:

- a write is split at page boundaries (4096 bytes). Each page is written, lost, or torn at sector
  boundaries (512 bytes);
- where a page is lost, the old bytes remain, or zeros if the file was shorter;
- a truncation is applied or lost; if it is lost, the bytes before it reappear;
- the size may be applied without the bytes, or may be too small for the bytes applied.

A failed sync drops the pending bytes: programs still read them, but no later sync writes them.
Linux behaves the same when writeback fails. File sizes are metadata of the file system and are
still written later.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from ottla.runtime.dice import Dice

PAGE_SIZE = 4096
SECTOR_SIZE = 512
_SECTORS_PER_PAGE = PAGE_SIZE // SECTOR_SIZE


class WriteFate(Enum):
    """The effect of a power loss on changes that were not synced."""

    KEPT = auto()
    LOST = auto()
    # Changes up to some moment are kept, later ones are lost.
    PREFIX = auto()
    # Names and sizes are kept, data is lost: a file system that journals only metadata.
    METADATA = auto()
    # Each change has its own outcome.
    SCATTERED = auto()


class Write(NamedTuple):
    sequence: int
    position: int
    data: bytes


class Truncation(NamedTuple):
    sequence: int
    size: int


class Growth(NamedTuple):
    """A write whose bytes a failed sync has dropped; only its effect on the size remains."""

    sequence: int
    size: int


Change: TypeAlias = Write | Truncation | Growth


class FileContent:
    """The bytes of one file, independent of its names and of the handles open on it."""

    __slots__ = ("durable", "pending", "reserved", "volatile")

    def __init__(self) -> None:
        self.volatile = bytearray()
        self.durable = bytearray()
        self.pending: list[Change] = []
        self.reserved = 0

    @property
    def allocated(self) -> int:
        """The space that the file uses on the device."""
        return max(len(self.volatile), self.reserved)

    def write(self, sequence: int, position: int, data: bytes) -> None:
        _put(self.volatile, position, data)
        self.pending.append(Write(sequence, position, data))

    def truncate(self, sequence: int, size: int) -> None:
        _resize(self.volatile, size)
        self.reserved = 0
        self.pending.append(Truncation(sequence, size))

    def sync(self) -> None:
        self.durable = self._replayed()
        self.pending.clear()

    def drop_unsynced(self) -> None:
        """Applies a failed sync: the bytes stay readable but are never written to the device."""
        self.pending = [
            Growth(change.sequence, change.position + len(change.data))
            if isinstance(change, Write)
            else change
            for change in self.pending
        ]

    def flip_bit(self, bit: int) -> None:
        """Flips one bit, counted from the start of the file, on the device and in the cache."""
        for held in (self.durable, self.volatile):
            if bit // 8 < len(held):
                held[bit // 8] ^= 1 << bit % 8

    def lose_power(self, fate: WriteFate, dice: Dice, cut: int) -> None:
        """Applies a power loss. `cut` is the sequence of the first change that PREFIX loses."""
        if fate is WriteFate.KEPT:
            self.durable = self._replayed()
        elif fate is WriteFate.PREFIX:
            self.durable = self._replayed_up_to(cut, dice)
        elif fate is WriteFate.METADATA:
            self.durable = self._replayed_without_bytes()
        elif fate is WriteFate.SCATTERED:
            self.durable = self._replayed_by_chance(dice)
        self.volatile = bytearray(self.durable)
        self.pending.clear()
        self.reserved = 0

    def _replayed(self) -> bytearray:
        content = self.durable
        for change in self.pending:
            _apply(content, change)
        return content

    def _replayed_up_to(self, cut: int, dice: Dice) -> bytearray:
        content = self.durable
        for change in self.pending:
            if change.sequence < cut:
                _apply(content, change)
            elif change.sequence == cut and isinstance(change, Write):
                # Power is lost in the middle of this write.
                end = change.position + dice.below(len(change.data) + 1)
                kept = max(end - end % SECTOR_SIZE - change.position, 0)
                if kept:
                    _put(content, change.position, change.data[:kept])
        return content

    def _replayed_without_bytes(self) -> bytearray:
        content = self.durable
        for change in self.pending:
            if isinstance(change, Write):
                _resize(content, max(change.position + len(change.data), len(content)))
            else:
                _apply(content, change)
        return content

    def _replayed_by_chance(self, dice: Dice) -> bytearray:
        size_before = len(self.durable)
        content = self.durable
        for change in self.pending:
            if isinstance(change, Write):
                _scatter(content, change, dice)
            elif dice.chance(0.5):
                _apply(content, change)
        if dice.chance(0.5):
            _resize(content, _size_found(dice, size_before, len(content), len(self.volatile)))
        return content


def _apply(content: bytearray, change: Change) -> None:
    match change:
        case Write():
            _put(content, change.position, change.data)
        case Truncation():
            _resize(content, change.size)
        case Growth():
            _resize(content, max(change.size, len(content)))


def _put(content: bytearray, position: int, data: bytes | memoryview) -> None:
    if position > len(content):
        _resize(content, position)
    content[position : position + len(data)] = data


def _resize(content: bytearray, size: int) -> None:
    if size <= len(content):
        del content[size:]
    else:
        content.extend(bytes(size - len(content)))


def _scatter(content: bytearray, write: Write, dice: Dice) -> None:
    """Writes, loses or tears each page of the write."""
    data = memoryview(write.data)
    end = write.position + len(data)
    start = write.position
    while start < end:
        stop = min(start - start % PAGE_SIZE + PAGE_SIZE, end)
        piece = data[start - write.position : stop - write.position]
        match dice.below(3):
            case 0:
                _put(content, start, piece)
            case 1:
                _tear(content, start, piece, sectors_kept=dice.below(1 << _SECTORS_PER_PAGE))
        start = stop


def _tear(content: bytearray, position: int, piece: memoryview, *, sectors_kept: int) -> None:
    """Writes the sectors of one page whose bits are set in `sectors_kept`."""
    end = position + len(piece)
    start = position
    while start < end:
        stop = min(start - start % SECTOR_SIZE + SECTOR_SIZE, end)
        if sectors_kept >> (start % PAGE_SIZE // SECTOR_SIZE) & 1:
            _put(content, start, piece[start - position : stop - position])
        start = stop


def _size_found(dice: Dice, before: int, arrived: int, volatile: int) -> int:
    """A file size after a power loss that need not match the bytes that were written.

    It may be larger, with zeros at the end, if only the size was written. It may be smaller, but
    not smaller than the minimum of the synced size, the size that programs saw, and `arrived`.
    """
    low = min(before, volatile, arrived)
    high = max(arrived, volatile)
    return dice.choice((low, high, dice.between(low=low, high=high)))
