"""The leader epochs of a log and their start offsets. Followers compare them to find where their
logs diverge.

The entries ascend in both epoch and start offset, and an epoch ends at the next entry's start
offset. KIP-101 gives the reasons; KIP-279 covers requests for an epoch between two entries.

Changes stay in memory until `flush` writes `leader-epoch-checkpoint`. A crash may lose them safely
if `flush` runs before the recovery point moves: recovery assigns the epochs of the batches above
that point again, and removes those beyond the end of the log.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from ottla.model import NO_LEADER_EPOCH
from ottla.runtime.disk import Disk
from ottla.storage.files.checkpoint_file import CheckpointFile, parse_integer

FILE_NAME: Final = "leader-epoch-checkpoint"
UNDEFINED_OFFSET: Final = -1

_epoch_of = itemgetter(0)
_start_offset_of = itemgetter(1)


class EpochEntry(NamedTuple):
    """An epoch, and the offset of its first record."""

    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """An epoch, and the offset after its last record."""

    epoch: int
    end_offset: int


class EpochCheckpoint(NamedTuple):
    """The entries at one moment, for a flush to write."""

    file: CheckpointFile[EpochEntry]
    entries: tuple[EpochEntry, ...]

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def content(self) -> bytes:
        return self.file.content(self.entries)

    def write(self) -> None:
        self.file.write(self.entries)


UNDEFINED_EPOCH_END: Final = EpochEnd(NO_LEADER_EPOCH, UNDEFINED_OFFSET)


class LeaderEpochCache:
    """The epochs of one partition's log, read from its directory and owned by the log."""

    __slots__ = ("_checkpoint", "_entries", "is_dirty", "latest_epoch")

    def __init__(self, disk: Disk, directory: str) -> None:
        self._checkpoint = CheckpointFile(disk, f"{directory}/{FILE_NAME}", _format, _parse)
        self._entries: list[EpochEntry] = []
        # The epoch of the last entry, which every append reads.
        self.latest_epoch: int | None = None
        self.is_dirty = False
        for entry in self._checkpoint.read():
            self.assign(epoch=entry.epoch, start_offset=entry.start_offset)
        self.is_dirty = False

    @property
    def entries(self) -> Sequence[EpochEntry]:
        return self._entries

    @property
    def earliest_entry(self) -> EpochEntry | None:
        return self._entries[0] if self._entries else None

    @property
    def latest_entry(self) -> EpochEntry | None:
        return self._entries[-1] if self._entries else None

    def assign(self, *, epoch: int, start_offset: int) -> bool:
        """Records that `epoch` begins at `start_offset`. Returns whether the cache changed.

        Removes entries that contradict the new one, because it describes a later append.
        """
        assert epoch >= 0, f"epoch {epoch}"
        assert start_offset >= 0, f"epoch {epoch} at {start_offset}"
        entries = self._entries
        if entries and entries[-1].epoch == epoch and entries[-1].start_offset <= start_offset:
            return False
        while entries and (entries[-1].epoch >= epoch or entries[-1].start_offset >= start_offset):
            entries.pop()
        entries.append(EpochEntry(epoch, start_offset))
        self.latest_epoch = epoch
        self.is_dirty = True
        return True

    def end_offset_for(self, *, epoch: int, log_end_offset: int) -> EpochEnd:
        """The greatest known epoch that is at most `epoch`, and its end offset.

        For an epoch below all known ones, whose records are gone: `epoch` itself and the start
        offset of the first known epoch. For an epoch above all known ones: `UNDEFINED_EPOCH_END`.
        """
        if epoch == NO_LEADER_EPOCH:
            return UNDEFINED_EPOCH_END
        if epoch == self.latest_epoch:
            return EpochEnd(epoch, log_end_offset)
        above = self._count_to_epoch(epoch)
        if above == len(self._entries):
            return UNDEFINED_EPOCH_END
        end_offset = self._entries[above].start_offset
        return EpochEnd(self._entries[above - 1].epoch if above else epoch, end_offset)

    def epoch_for_offset(self, offset: int) -> int | None:
        above = bisect_right(self._entries, offset, key=_start_offset_of)
        return self._entries[above - 1].epoch if above else None

    def previous_epoch(self, epoch: int) -> int | None:
        """The greatest known epoch below `epoch`."""
        below = self._count_to_epoch(epoch - 1)
        return self._entries[below - 1].epoch if below else None

    def next_epoch(self, epoch: int) -> int | None:
        """The smallest known epoch above `epoch`."""
        above = self._count_to_epoch(epoch)
        return self._entries[above].epoch if above < len(self._entries) else None

    def truncate_from_end(self, end_offset: int) -> None:
        """Removes the epochs that begin at `end_offset` or later."""
        while self._entries and self._entries[-1].start_offset >= end_offset:
            self._entries.pop()
            self.is_dirty = True
        self.latest_epoch = self._entries[-1].epoch if self._entries else None

    def truncate_from_start(self, start_offset: int) -> None:
        """Removes the epochs that end at or before `start_offset`. An epoch that continues now
        begins there."""
        covered = bisect_right(self._entries, start_offset, key=_start_offset_of)
        if covered and self._entries[covered - 1].start_offset < start_offset:
            self._entries[covered - 1] = self._entries[covered - 1]._replace(
                start_offset=start_offset
            )
            self.is_dirty = True
        if covered > 1:
            del self._entries[: covered - 1]
            self.is_dirty = True

    def clear(self) -> None:
        self._entries.clear()
        self.latest_epoch = None
        self.is_dirty = True

    def checkpoint(self) -> EpochCheckpoint | None:
        """The checkpoint to write, if the entries have changed. Call `checkpoint_written`
        afterwards."""
        return EpochCheckpoint(self._checkpoint, tuple(self._entries)) if self.is_dirty else None

    def checkpoint_written(self, checkpoint: EpochCheckpoint) -> None:
        self.is_dirty = checkpoint.entries != tuple(self._entries)

    def flush(self) -> None:
        """Makes the entries durable, if they have changed."""
        checkpoint = self.checkpoint()
        if checkpoint is not None:
            checkpoint.write()
            self.is_dirty = False

    def _count_to_epoch(self, epoch: int) -> int:
        """The number of entries with an epoch of at most `epoch`."""
        return bisect_right(self._entries, epoch, key=_epoch_of)


def _format(entry: EpochEntry) -> str:
    return f"{entry.epoch} {entry.start_offset}"


def _parse(words: list[str]) -> EpochEntry:
    if len(words) != 2:
        raise ValueError("expected an epoch and an offset")
    entry = EpochEntry(parse_integer(words[0]), parse_integer(words[1]))
    if entry.epoch < 0 or entry.start_offset < 0:
        raise ValueError("an epoch and an offset must not be negative")
    return entry
