"""Writes snapshots of the metadata in the background, after a certain number of bytes of log.

A snapshot that fails can be ignored: the log still has all records.
"""

from __future__ import annotations

import asyncio
import logging

from ottla.controller.committed_metadata import CommittedMetadata
from ottla.controller.metadata_log import MetadataLog
from ottla.controller.quorum_seams import Seams
from ottla.controller.snapshot_file import Snapshot, SnapshotVoters
from ottla.raft import Raft

_log = logging.getLogger(__name__)


class SnapshotWriting:
    """Writes one snapshot at a time. Owned by `MetadataQuorum`, which waits for the last one before
    it closes the log."""

    def __init__(
        self, seams: Seams, log: MetadataLog, metadata: CommittedMetadata, raft: Raft
    ) -> None:
        self._seams = seams
        self._metadata_log = log
        self._metadata = metadata
        self._raft = raft
        self._writing: asyncio.Task[object] | None = None

    def maybe_begin(self) -> None:
        """Called after each commit."""
        if not self._metadata_log.is_snapshot_due or self._metadata.is_in_transaction:
            # The image lacks the records of an unfinished transaction, and the log would lose them.
            # The commit that ends the transaction calls this again.
            return
        offset = self._metadata.end_offset
        version = self._raft.quorum_at(offset)
        voters = None
        if version.voters is not None:
            voters = SnapshotVoters(version.kraft_version, version.voters.to_record())
        snapshot = self._metadata_log.prepare_snapshot(
            self._metadata.image, offset, voters, now_ms=self._seams.clock.now_ms()
        )
        if snapshot is not None:
            self._writing = self._seams.tasks.start("metadata-snapshot", self._write(snapshot))

    async def wait_written(self) -> None:
        if self._writing is not None:
            await asyncio.wait([self._writing])

    async def _write(self, snapshot: Snapshot) -> None:
        try:
            await self._seams.background.run(snapshot.write)
            self._metadata_log.complete_snapshot(snapshot, now_ms=self._seams.clock.now_ms())
        except OSError as error:
            self._metadata_log.abandon_snapshot()
            _log.warning("cannot write the metadata snapshot %s: %s", snapshot.path, error)
