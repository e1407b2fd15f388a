"""What consensus has to know of the log, and what that says about a replica's place in it.

A record is known by its offset and its epoch. Two logs that agree on both for one record agree on
everything before it, so the end of a log, as an offset and the epoch of the record before it, says
all there is to say about the log.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol


class OffsetAndEpoch(NamedTuple):
    """The end of a log or of a snapshot: the offset after the last record, and that one's epoch."""

    offset: int
    epoch: int

    def is_up_to_date_with(self, other: OffsetAndEpoch) -> bool:
        """Whether a log that ends here holds all that one ending there can have committed."""
        return (self.epoch, self.offset) >= (other.epoch, other.offset)


# What formatting a directory leaves. It is never sent: the first leader writes it to the log.
BOOTSTRAP_SNAPSHOT_ID: Final = OffsetAndEpoch(0, 0)


class ReplicatedLog(Protocol):
    """The metadata log as it is at this moment. The caller changes it, the machine only asks."""

    @property
    def start(self) -> OffsetAndEpoch:
        """Where the log begins, with the epoch of the snapshot that it goes on from; (0, 0) if
        it has its first record."""

    @property
    def end(self) -> OffsetAndEpoch:
        """The same as `start` for a log without records."""

    @property
    def flushed_end_offset(self) -> int:
        """The offset up to which a crash of the host takes nothing away."""

    def end_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """The end of the greatest epoch that is not above `epoch`; `start` if there is none."""

    @property
    def latest_snapshot_id(self) -> OffsetAndEpoch | None: ...

    def snapshot_size(self, snapshot_id: OffsetAndEpoch) -> int | None:
        """In bytes; None if there is no such snapshot, or no longer."""


class Diverging(NamedTuple):
    """The fetching replica holds other records than the leader after this end."""

    end: OffsetAndEpoch


class SnapshotNeeded(NamedTuple):
    """What the fetching replica lacks is only in a snapshot."""

    id: OffsetAndEpoch


def find_obstacle(log: ReplicatedLog, fetched: OffsetAndEpoch) -> Diverging | SnapshotNeeded | None:
    """What keeps a replica with that end from going on with the records of this log, if anything.

    An empty replica is better off with a snapshot even while the log has its first record.
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
    """Where to cut a log of which the leader's has no more than that in common.

    The leader names the end of an epoch in its own log. If this log does not have the epoch, it is
    cut at the end of the one before and the leader is asked again.
    """
    end = log.end_for_epoch(diverging.epoch)
    return min(end.offset, diverging.offset) if end.epoch == diverging.epoch else end.offset
