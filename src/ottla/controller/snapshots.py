"""The snapshot files in a metadata log's directory."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.controller.snapshot_file import DELETED_SUFFIX, PARTIAL_SUFFIX, SnapshotId
from ottla.runtime.disk import Disk


class Snapshots:
    """The ids of the existing snapshots. Owned by a metadata log."""

    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._directory = directory
        self._ids: list[SnapshotId] = []
        self._find()

    @property
    def ids(self) -> Sequence[SnapshotId]:
        """From the earliest to the latest."""
        return self._ids

    def path(self, snapshot: SnapshotId) -> str:
        return f"{self._directory}/{snapshot.file_name}"

    def add(self, snapshot: SnapshotId) -> None:
        if snapshot not in self._ids:
            self._ids = sorted([*self._ids, snapshot])

    def keep_latest(self, count: int) -> SnapshotId:
        """Removes all but the latest and returns the earliest that is left."""
        for snapshot in self._ids[:-count]:
            self._disk.remove(self.path(snapshot))
        self._ids = self._ids[-count:]
        return self._ids[0]

    def _find(self) -> None:
        """Also deletes snapshots that were partially written or about to be deleted at the last
        stop."""
        for name in self._disk.list_directory(self._directory):
            snapshot = SnapshotId.parse(name)
            if snapshot is not None:
                self._ids.append(snapshot)
            elif name.endswith((PARTIAL_SUFFIX, DELETED_SUFFIX)):
                self._disk.remove(f"{self._directory}/{name}")
        self._ids.sort()
