"""When a replica writes a snapshot of its metadata: after so many bytes of log, in the background.

One that cannot be written is missed by nobody: the log has everything.
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
    """One at a time. Owned by the quorum's driver, whose log outlives the last one."""

    def __init__(
        self, seams: Seams, log: MetadataLog, metadata: CommittedMetadata, raft: Raft
    ) -> None:
        self._seams = seams
        self._metadata_log = log
        self._metadata = metadata
        self._raft = raft
        self._writing: asyncio.Task[object] | None = None

    def maybe_begin(self) -> None:
        """To be called after each commit."""
        if not self._metadata_log.is_snapshot_due or self._metadata.is_in_transaction:
            # In a transaction the image lacks what the log would lose. Its end will be committed.
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
            _log.warning("the metadata snapshot %s is not complete: %s", snapshot.path, error)
