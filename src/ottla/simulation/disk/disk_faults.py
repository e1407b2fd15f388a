"""I/O errors, slow calls and wrong reads of a simulated disk. For power loss see disk.py."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from ottla.runtime.dice import Dice
from ottla.simulation.disk.file_content import SECTOR_SIZE
from ottla.simulation.disk.namespace import parts


class Operation(Enum):
    """Disk operations that can fail separately."""

    READ = auto()
    WRITE = auto()
    SYNC = auto()
    # Queries of names and sizes, and opening existing files.
    LOOKUP = auto()
    # Name changes (create, rename, remove) and syncs of a directory.
    NAMES = auto()


# Shorter than any batch, and shorter than the part after the shortest batch's header.
_SENT_BYTES_MIN = 61
# How often a call that waits for a slow device checks whether the device is still slow.
_LOOK_SECONDS = 0.5
_END_BYTES = 7
_MISDIRECTED_PROBABILITY = 0.5
_READS = (Operation.READ, Operation.LOOKUP)


class PowerLost(BaseException):
    """The simulated host lost power during a call.

    It is not an `Exception`, so error handlers do not continue as if the host still ran.
    """


class _Failing(NamedTuple):
    path: str
    operations: Collection[Operation]
    error: int


class Corruption(NamedTuple):
    """Wrong data returned by a read: a flipped bit, or the data of another sector of the file.

    The bit is near the end of the data, where a checksum covers it: Kafka's checksum does not cover
    a batch's offset, so damage there cannot be detected. Data of another sector is used only if the
    reader can detect it (`is_noticed`): in a log with gaps, complete batches from another position
    would be accepted.
    """

    dice: Dice
    probability: float
    is_noticed: Callable[[bytes], bool]


class DiskFaults:
    """The faults of a disk. Each applies to a path and everything below it, until `heal`."""

    def __init__(self) -> None:
        self.seconds_waited = 0.0
        self._failing: list[_Failing] = []
        self._slow: dict[str, float] = {}
        self._changes_left: int | None = None
        self._quiet = True
        self._corruption: Corruption | None = None
        # Called when power is lost, before `PowerLost` is raised.
        self.on_power_lost: Callable[[], object] = lambda: None

    def fail(self, path: str, *operations: Operation, error: int = errno.EIO) -> None:
        """Makes operations fail; all operations if none are given.

        A failed sync drops the data that it should have written, as Linux does.
        """
        self._failing.append(_Failing(canonical(path), operations or tuple(Operation), error))
        self._quiet = False

    def slow(self, path: str, seconds: float) -> None:
        """Makes every call wait for the device, as if nothing were cached.

        The waits add up in `seconds_waited`; the simulation decides what they delay.
        """
        self._slow[canonical(path)] = seconds
        self._quiet = False

    def heal(self, path: str) -> None:
        """Ends `fail` and `slow` for a path."""
        path = canonical(path)
        self._failing = [fault for fault in self._failing if fault.path != path]
        self._slow.pop(path, None)
        self._quiet = not self._failing and not self._slow and self._changes_left is None

    def power_off_after(self, changes: int) -> None:
        """Loses power after this many more writes, syncs and name changes.

        From then on every call raises `PowerLost`, until `crash` or `kill` of the disk.
        """
        self._changes_left = changes
        self._quiet = False

    def power_on(self) -> None:
        self._changes_left = None
        self._quiet = not self._failing and not self._slow

    def meet(self, operation: Operation, *paths: str) -> None:
        """Applies the faults configured for these canonical paths: raises, or adds to the wait."""
        if self._quiet:
            return
        self._count_down(operation)
        self.seconds_waited += max(map(self._wait, paths))
        for fault in self._failing:
            for path in paths:
                if operation in fault.operations and _covers(fault.path, path):
                    raise OSError(fault.error, f"{os.strerror(fault.error)} (simulated)", path)

    def corrupt_sent(self, corruption: Corruption | None) -> None:
        """Corrupts some of the reads for `send_file`; None ends it."""
        self._corruption = corruption

    def as_sent(self, data: bytes, content: bytearray, position: int) -> bytes:
        """The result of reading this data, possibly corrupted; `position` is its place in the
        file.
        """
        corruption = self._corruption
        if corruption is None or len(data) < _SENT_BYTES_MIN:
            return data
        dice = corruption.dice
        if not dice.chance(corruption.probability):
            return data
        if dice.chance(_MISDIRECTED_PROBABILITY):
            sector = dice.below(len(content) // SECTOR_SIZE + 1)
            start = sector * SECTOR_SIZE + position % SECTOR_SIZE
            other = bytes(content[start : start + len(data)])
            is_wrong = len(other) == len(data) and corruption.is_noticed(other)
            return other if is_wrong else data
        damaged = bytearray(data)
        damaged[-1 - dice.below(_END_BYTES)] ^= 1 << dice.below(8)
        return bytes(damaged)

    @property
    def is_failing(self) -> bool:
        return bool(self._failing)

    def seconds_until_looked_at(self, left: float) -> float:
        """The next part of a wait of `left` seconds; 0 once the device is fast, to skip the
        rest.
        """
        return min(left, _LOOK_SECONDS) if self._slow else 0.0

    def is_slow(self, path: str) -> bool:
        return bool(self._slow) and self._wait(path) > 0

    def _wait(self, path: str) -> float:
        return sum(seconds for slow, seconds in self._slow.items() if _covers(slow, path))

    def _count_down(self, operation: Operation) -> None:
        if self._changes_left is None:
            return
        if self._changes_left == 0:
            self.on_power_lost()
            raise PowerLost("the simulated host has no power")
        if operation not in _READS:
            self._changes_left -= 1


@lru_cache(maxsize=4096)
def canonical(path: str) -> str:
    """The canonical spelling of a path; the root's is the empty string."""
    return "".join(f"/{part}" for part in parts(path))


def _covers(above: str, path: str) -> bool:
    return path == above or path.startswith(f"{above}/")
