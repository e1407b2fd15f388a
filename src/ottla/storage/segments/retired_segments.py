"""Segments that were removed from a log and whose files are still to be deleted.

A reader may still be sending from an expired segment. So its files are renamed at once and deleted
after `file.delete.delay.ms`. They are not deleted while a flush of the log runs, which may be
syncing them; they then wait for the next `purge`. The renames are made durable one by one, in the
order given, so that no crash brings back a segment without its neighbour and leaves a gap.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from threading import Lock

from ottla.runtime.disk import Disk
from ottla.storage.files.file_names import FileState
from ottla.storage.segments.segment import Segment


class RetiredSegments:
    """Owned by one log. What a crash leaves is removed when the log is next opened."""

    __slots__ = ("_directory", "_disk", "_files_lock", "_waiting")

    def __init__(self, disk: Disk, directory: str, files_lock: Lock) -> None:
        self._disk = disk
        self._directory = directory
        self._files_lock = files_lock
        self._waiting: deque[tuple[int, Segment]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, segment: Segment, *, now_ms: int, delay_ms: int) -> None:
        segment.rename(FileState.DELETED)
        self._disk.sync_directory(self._directory)
        self._remove_later((segment,), now_ms=now_ms, delay_ms=delay_ms)

    def add_replaced(self, segments: Sequence[Segment], *, now_ms: int, delay_ms: int) -> None:
        """As `add`, for segments whose replacement is already durable: with one sync for all of
        them."""
        for segment in segments:
            segment.rename(FileState.DELETED)
        self._disk.sync_directory(self._directory)
        self._remove_later(segments, now_ms=now_ms, delay_ms=delay_ms)

    def _remove_later(self, segments: Sequence[Segment], *, now_ms: int, delay_ms: int) -> None:
        due = [(now_ms + delay_ms, segment) for segment in segments]
        if delay_ms:
            self._waiting.extend(due)
        else:
            self._waiting.extendleft(due)
            self.purge(now_ms=now_ms)

    def purge(self, *, now_ms: int | None = None) -> None:
        """Deletes the files of segments whose delay has passed, or of all segments if no time is
        given."""
        if not self._files_lock.acquire(blocking=False):
            return
        try:
            while self._waiting and (now_ms is None or self._waiting[0][0] <= now_ms):
                self._waiting.popleft()[1].remove()
        finally:
            self._files_lock.release()
