"""What goes wrong on a simulated disk while it runs. Power loss and rot are the disk's own."""

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
    # Asking about names and sizes, and opening what exists.
    LOOKUP = auto()
    # Changing names (create, rename, remove), and syncing a directory.
    NAMES = auto()


# Shorter than any batch, and than what is after the header of the shortest one.
_SENT_BYTES_MIN = 61
# Between looks at whether what is waited for is slow still.
_LOOK_SECONDS = 0.5
_END_BYTES = 7
_MISDIRECTED_PROBABILITY = 0.5
_ASKING = (Operation.READ, Operation.LOOKUP)


class PowerLost(BaseException):
    """The simulated host lost power during a call.

    It is not an `Exception`, so error handlers do not continue as if the host still ran.
    """


class _Failing(NamedTuple):
    path: str
    operations: Collection[Operation]
    error: int


class Corruption(NamedTuple):
    """Data that is wrong in a bit, or that of another sector of the same file.

    A bit near its end, where a checksum covers it: nobody can tell that a batch's offset, which
    Kafka's checksum leaves out, is another one. And of other sectors only what is noticed: whole
    batches of another place would do in a log with gaps.
    """

    dice: Dice
    probability: float
    is_noticed: Callable[[bytes], bool]


class DiskFaults:
    """Faults of a disk. Each applies to a path and everything below it, until `heal`."""

    def __init__(self) -> None:
        self.seconds_waited = 0.0
        self._failing: list[_Failing] = []
        self._slow: dict[str, float] = {}
        self._changes_left: int | None = None
        self._quiet = True
        self._corruption: Corruption | None = None
        # Called when power goes, before anything is raised.
        self.on_power_lost: Callable[[], object] = lambda: None

    def fail(self, path: str, *operations: Operation, error: int = errno.EIO) -> None:
        """Makes operations fail; without names, all of them.

        A failed sync drops the data that it was to write, as Linux does.
        """
        self._failing.append(_Failing(canonical(path), operations or tuple(Operation), error))
        self._quiet = False

    def slow(self, path: str, seconds: float) -> None:
        """Makes every call wait for the device, without a cache.

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
        """Loses power after this many more writes, syncs and changes of names.

        From then on every call raises `PowerLost`, until `crash` or `kill` of the disk.
        """
        self._changes_left = changes
        self._quiet = False

    def power_on(self) -> None:
        self._changes_left = None
        self._quiet = not self._failing and not self._slow

    def meet(self, operation: Operation, *paths: str) -> None:
        """Raises or waits as one call on those canonical paths has to."""
        if self._quiet:
            return
        self._count_down(operation)
        self.seconds_waited += max(map(self._wait, paths))
        for fault in self._failing:
            for path in paths:
                if operation in fault.operations and _covers(fault.path, path):
                    raise OSError(fault.error, f"{os.strerror(fault.error)} (simulated)", path)

    def corrupt_sent(self, corruption: Corruption | None) -> None:
        """Lets what is read in order to be sent be wrong now and then; None: no more."""
        self._corruption = corruption

    def as_sent(self, data: bytes, content: bytearray, position: int) -> bytes:
        """What comes of reading this data, which is at that position of a file's content."""
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
        """How long to wait at once, of so much that is left to wait: what was slow may be fast
        again meanwhile, and then nobody waits for the rest."""
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
        if operation not in _ASKING:
            self._changes_left -= 1


@lru_cache(maxsize=4096)
def canonical(path: str) -> str:
    """One spelling for each path; the root's is empty."""
    return "".join(f"/{part}" for part in parts(path))


def _covers(above: str, path: str) -> bool:
    return path == above or path.startswith(f"{above}/")
