"""One flush of a log: the files to write and sync, and the offset that is durable afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from threading import Lock
from typing import Final, NamedTuple

from ottla.runtime.disk import Disk
from ottla.storage.epochs.epoch_cache import EpochCheckpoint
from ottla.storage.files.durable_file import begin_replacing, finish_replacing, replace_file
from ottla.storage.files.rewriting import renew, rewrite_file
from ottla.storage.producers.producer_history import WaitingSnapshot
from ottla.storage.segments.segment import Segment

# With this many logs or more, `run_together` syncs whole directories; see `Disk.sync_directories`.
TOGETHER_MIN: Final = 16


class Flush(NamedTuple):
    """Made by `Log.prepare_flush`. `run` only touches files and may run on a worker thread.

    `run` holds the log's lock, so the log cannot close or write the same files meanwhile. A
    truncation waits until `run` has finished. If a truncation came first, `run` does nothing.
    """

    disk: Disk
    directory: str
    segments: tuple[Segment, ...]
    snapshots: tuple[WaitingSnapshot, ...]
    epochs: EpochCheckpoint | None
    offset: int
    lock: Lock
    is_overtaken: Callable[[], bool]
    # A small file that may be in the page cache only; see rewriting.py.
    doubted_path: str | None = None

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to write or to sync."""
        return bool(
            self.snapshots
            or self.epochs is not None
            or self.doubted_path is not None
            or any(segment.needs_sync for segment in self.segments)
        )

    def run(self) -> None:
        with self.lock:
            if not self.is_overtaken():
                self._run()

    def _run(self) -> None:
        if self.doubted_path is not None:
            renew(self.disk, self.doubted_path)
        for segment in self.segments:
            segment.sync()
        for snapshot in self.snapshots:
            replace_file(self.disk, snapshot.path, snapshot.content)
        if self.epochs is not None:
            self.epochs.write()

    def begin(self) -> None:
        """Writes everything that is not yet written. The caller syncs it."""
        if self.doubted_path is not None:
            rewrite_file(self.disk, self.doubted_path)
        for path, content in self._replaced():
            begin_replacing(self.disk, path, content)

    def finish(self) -> None:
        for path, _ in self._replaced():
            finish_replacing(self.disk, path)
        for segment in self.segments:
            segment.note_synced()

    def _replaced(self) -> Iterator[tuple[str, bytes]]:
        for snapshot in self.snapshots:
            yield snapshot.path, snapshot.content
        if self.epochs is not None:
            yield self.epochs.path, self.epochs.content


def run_together(disk: Disk, flushes: Iterable[Flush]) -> None:
    """Runs flushes of logs that are not in use. Many flushes take a few syncs of whole directories
    instead of thousands of syncs one after the other."""
    needed = [flush for flush in flushes if flush.is_needed]
    if len(needed) < TOGETHER_MIN:
        for flush in needed:
            flush.run()
        return
    directories = [flush.directory for flush in needed]
    for flush in needed:
        flush.begin()
    disk.sync_directories(directories)
    for flush in needed:
        flush.finish()
    # Makes the renames durable.
    disk.sync_directories(directories)
