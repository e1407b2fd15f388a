"""The log as consensus sees it, and the rules for comparing two logs.

A record is identified by its offset and epoch. Two logs with the same offset and epoch for one
record have the same records before it. So the end of a log (its end offset, and the epoch of the
last record) identifies the whole log.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol


class OffsetAndEpoch(NamedTuple):
    """The end of a log or of a snapshot: the offset after the last record, and the epoch of that
    record."""

    offset: int
    epoch: int

    def is_up_to_date_with(self, other: OffsetAndEpoch) -> bool:
        """Whether a log that ends here has all records that a log ending at `other` can have
        committed."""
        return (self.epoch, self.offset) >= (other.epoch, other.offset)


# The snapshot written by formatting. It is never sent: the first leader writes its records to the
# log.
BOOTSTRAP_SNAPSHOT_ID: Final = OffsetAndEpoch(0, 0)


class ReplicatedLog(Protocol):
    """The metadata log in its current state. The caller changes it; the machine only reads it."""

    @property
    def start(self) -> OffsetAndEpoch:
        """The log start offset, with the epoch of the snapshot that the log continues; (0, 0) if
        the log still has its first record."""

    @property
    def end(self) -> OffsetAndEpoch:
        """Equal to `start` for a log without records."""

    @property
    def flushed_end_offset(self) -> int:
        """All records below this offset survive a crash of the host."""

    def end_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """The end of the largest epoch that is not above `epoch`; `start` if there is none."""

    @property
    def latest_snapshot_id(self) -> OffsetAndEpoch | None: ...

    def snapshot_size(self, snapshot_id: OffsetAndEpoch) -> int | None:
        """In bytes; None if the snapshot does not exist or was deleted."""


class Diverging(NamedTuple):
    """The fetching replica's log differs from the leader's after this end."""

    end: OffsetAndEpoch


class SnapshotNeeded(NamedTuple):
    """The records that the fetching replica needs are only in a snapshot."""

    id: OffsetAndEpoch


def find_obstacle(log: ReplicatedLog, fetched: OffsetAndEpoch) -> Diverging | SnapshotNeeded | None:
    """Why a replica whose log ends at `fetched` cannot continue with the records of this log; None
    if it can.

    An empty replica gets a snapshot if there is one, even while the log still has its first record.
    """
    start, snapshot_id = log.start, log.latest_snapshot_id
    if fetched.offset == 0:
        has_snapshot = snapshot_id is not None and snapshot_id != BOOTSTRAP_SNAPSHOT_ID
        return SnapshotNeeded(snapshot_id) if has_snapshot and snapshot_id else None
    if start.offset > 0 and (
        fetched.offset < start.offset
        or fetched.epoch < start.epoch
        or (fetched.offset == start.offset and fetched.epoch != start.epoch)
    ):
        assert snapshot_id is not None, f"the log begins at {start} without a snapshot"
        return SnapshotNeeded(snapshot_id)
    end = log.end_for_epoch(fetched.epoch)
    if end.epoch != fetched.epoch or end.offset < fetched.offset:
        return Diverging(end)
    return None


def truncation_offset(log: ReplicatedLog, diverging: OffsetAndEpoch) -> int:
    """Where to truncate this log, which diverges from the leader's log after `diverging`.

    `diverging` is the end of an epoch in the leader's log. If this log does not have the epoch, it
    is truncated at the end of its largest lower epoch, and the next fetch compares the logs again.
    """
    end = log.end_for_epoch(diverging.epoch)
    return min(end.offset, diverging.offset) if end.epoch == diverging.epoch else end.offset
