"""A sync on its way: what to make durable, and what is proven when that is done."""

from __future__ import annotations

from typing import NamedTuple

from ottla.runtime.disk import Disk
from ottla.storage.durable_file import replace_file
from ottla.storage.epoch_cache import EpochCheckpoint
from ottla.storage.producer_history import WaitingSnapshot
from ottla.storage.segment import Segment


class Flush(NamedTuple):
    """Made by `Log.prepare_flush`. `run` touches files only and may run on a worker thread."""

    disk: Disk
    segments: tuple[Segment, ...]
    snapshots: tuple[WaitingSnapshot, ...]
    epochs: EpochCheckpoint | None
    offset: int
    truncations: int

    def run(self) -> None:
        for segment in self.segments:
            segment.sync()
        for snapshot in self.snapshots:
            replace_file(self.disk, snapshot.path, snapshot.content)
        if self.epochs is not None:
            self.epochs.write()
