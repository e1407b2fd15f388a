"""Loads a log's leader epochs from their checkpoint, or else from the log itself."""

from __future__ import annotations

from ottla.runtime.disk import Disk
from ottla.storage.epochs.epoch_cache import FILE_NAME, LeaderEpochCache
from ottla.storage.errors import CorruptCheckpointError, CorruptLogError
from ottla.storage.segments.segments import Segments


def load_epochs(disk: Disk, directory: str, segments: Segments) -> LeaderEpochCache:
    """A corrupt checkpoint loses nothing: every batch has its leader epoch."""
    try:
        return LeaderEpochCache(disk, directory)
    except CorruptCheckpointError:
        disk.remove(f"{directory}/{FILE_NAME}")
    epochs = LeaderEpochCache(disk, directory)
    try:
        for segment in segments:
            for _, header in segment.headers():
                if header.leader_epoch >= 0 and header.leader_epoch != epochs.latest_epoch:
                    epochs.assign(epoch=header.leader_epoch, start_offset=header.base_offset)
    except CorruptLogError:
        pass  # A torn tail: recovery truncates it and assigns the other epochs.
    return epochs
