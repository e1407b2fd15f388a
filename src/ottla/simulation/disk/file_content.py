"""The bytes of one simulated file: what programs see, and what the device holds.

`volatile` is the page cache. `durable` is the device. Between them stand the changes made since
the last sync, in order, each with the data it wrote; a sync replays them onto the device, a power
loss replays what chance left of them:

- a write falls apart into pieces of the page cache's pages (4096 bytes), and each piece arrives,
  is lost, or is torn between the device's sectors (512 bytes);
- where a piece is lost there are the bytes from before, or zeros where the file was shorter;
- a truncation arrives or is lost, so that bytes from before it may be back;
- the size may have arrived without the bytes, or fall short of bytes that did arrive.

A failed sync drops the bytes: programs go on seeing them and no later sync writes them, which is
what Linux does when writing back fails. Sizes are the file system's own business and arrive later.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from ottla.runtime.dice import Dice

PAGE_SIZE = 4096
SECTOR_SIZE = 512
_SECTORS_PER_PAGE = PAGE_SIZE // SECTOR_SIZE


class WriteFate(Enum):
    """What a power loss does to changes that were not synced."""

    KEPT = auto()
    LOST = auto()
    # Everything up to some moment, and nothing after it.
    PREFIX = auto()
    # Names and sizes, but no bytes: what a journal for the metadata alone leaves.
    METADATA = auto()
    # Every piece on its own.
    SCATTERED = auto()


class Write(NamedTuple):
    sequence: int
    position: int
    data: bytes


class Truncation(NamedTuple):
    sequence: int
    size: int


class Growth(NamedTuple):
    """A write whose bytes a failed sync has dropped."""

    sequence: int
    size: int


Change: TypeAlias = Write | Truncation | Growth


class FileContent:
    """One file's bytes, whatever it is called and however often it is open."""

    __slots__ = ("durable", "pending", "reserved", "volatile")

    def __init__(self) -> None:
        self.volatile = bytearray()
        self.durable = bytearray()
        self.pending: list[Change] = []
        self.reserved = 0

    @property
    def allocated(self) -> int:
        """The room that the file takes on the device."""
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
        """What a failed sync leaves: bytes that look synced and are not on the device."""
        self.pending = [
            Growth(change.sequence, change.position + len(change.data))
            if isinstance(change, Write)
            else change
            for change in self.pending
        ]

    def flip_bit(self, bit: int) -> None:
        """Rots one bit, counted from the start of the file, on the device and in the cache."""
        for held in (self.durable, self.volatile):
            if bit // 8 < len(held):
                held[bit // 8] ^= 1 << bit % 8

    def lose_power(self, fate: WriteFate, dice: Dice, cut: int) -> None:
        """Becomes what is found afterwards. `cut` is the first sequence that a PREFIX lost."""
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
                # The moment of the cut is in the middle of this write.
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
    """Each page of the write arrives, is lost or is torn."""
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
    """Puts those sectors of one page that the bits of `sectors_kept` name."""
    end = position + len(piece)
    start = position
    while start < end:
        stop = min(start - start % SECTOR_SIZE + SECTOR_SIZE, end)
        if sectors_kept >> (start % PAGE_SIZE // SECTOR_SIZE) & 1:
            _put(content, start, piece[start - position : stop - position])
        start = stop


def _size_found(dice: Dice, before: int, arrived: int, volatile: int) -> int:
    """A size that differs from what the arrived bytes ask for.

    Longer, with zeros at the end, if only the size arrived; or shorter, but never shorter than
    both what was synced and what programs saw.
    """
    low = min(before, volatile, arrived)
    high = max(arrived, volatile)
    return dice.choice((low, high, dice.between(low=low, high=high)))
