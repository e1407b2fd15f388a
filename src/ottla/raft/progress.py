"""The replication progress of each replica, and the high watermark that follows from it.

A replica fetches from the end of its flushed log, so the fetch offset is an acknowledgement. The
leader counts its own flushed end offset, and counts itself only while it is a voter. The high
watermark is the largest offset that a majority of the voters has reached, once it includes a record
of the leader's own epoch: an older record can be on a majority and still be overwritten by a leader
that does not have it (Raft, figure 8).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ottla.raft.voters import ReplicaKey, VoterSet

OBSERVER_SESSION_MS: Final = 300_000
# A new voter must have been caught up once and have fetched within this time, as in Kafka.
CAUGHT_UP_MS: Final = 3_600_000


@dataclass(slots=True)
class ReplicaProgress:
    """One replica as seen by the leader. All fields are None until it fetches in this epoch."""

    key: ReplicaKey
    end_offset: int | None = None
    last_fetch_ms: int | None = None
    last_caught_up_ms: int | None = None
    leader_end_offset_at_last_fetch: int = 0

    def fetched(self, offset: int, *, leader_end_offset: int, now_ms: int) -> None:
        """The replica was caught up at its last fetch if it has now reached the leader's end offset
        of that time (KIP-836)."""
        if offset >= leader_end_offset:
            self.last_caught_up_ms = now_ms
        elif 0 < self.leader_end_offset_at_last_fetch <= offset:
            self.last_caught_up_ms = self.last_fetch_ms
        self.leader_end_offset_at_last_fetch = leader_end_offset
        self.last_fetch_ms = now_ms
        self.end_offset = offset


class Progress:
    """Owned by the leader of one epoch and discarded with it."""

    def __init__(self, local: ReplicaKey, voters: VoterSet, *, epoch_start_offset: int) -> None:
        self._local = local
        self._epoch_start_offset = epoch_start_offset
        self.high_watermark: int | None = None
        self.voters = {key.id: ReplicaProgress(key) for key in voters.keys}
        self.observers: dict[ReplicaKey, ReplicaProgress] = {}

    def set_voters(self, voters: VoterSet) -> None:
        """Keeps the progress of each replica, also when it changes between voter and observer."""
        known = {progress.key: progress for progress in self.voters.values()} | self.observers
        by_id: dict[int, ReplicaProgress] = {}
        for key in voters.keys:
            match = next((known.pop(each) for each in list(known) if each.admits(key)), None)
            by_id[key.id] = match or ReplicaProgress(key)
            by_id[key.id].key = key
        self.voters = by_id
        self.observers = known

    def local_flushed(self, end_offset: int) -> None:
        progress = self.voter(self._local)
        if progress is not None:
            progress.end_offset = end_offset

    def fetched(self, key: ReplicaKey, *, offset: int, leader_end_offset: int, now_ms: int) -> None:
        progress = self.voter(key)
        if progress is None:
            progress = self.observers.setdefault(key, ReplicaProgress(key))
        progress.fetched(offset, leader_end_offset=leader_end_offset, now_ms=now_ms)

    def voter(self, key: ReplicaKey) -> ReplicaProgress | None:
        progress = self.voters.get(key.id)
        return progress if progress is not None and progress.key.admits(key) else None

    def maybe_advance_high_watermark(self) -> bool:
        """Never decreases, although a new voter set can lower the offset that a majority has
        reached."""
        ends = sorted((-1 if p.end_offset is None else p.end_offset) for p in self.voters.values())
        reached = ends[(len(ends) - 1) // 2]
        if reached <= self._epoch_start_offset or reached <= (self.high_watermark or 0):
            return False
        self.high_watermark = reached
        return True

    def successors(self) -> list[ReplicaKey]:
        """The other voters, those with the longest log first."""
        others = [each for each in self.voters.values() if not each.key.admits(self._local)]
        others.sort(
            key=lambda each: (-1 if each.end_offset is None else each.end_offset, -each.key.id)
        )
        return [progress.key for progress in reversed(others)]

    def silent_voters(self, *, since_ms: int) -> Iterable[ReplicaKey]:
        """The other voters that have not fetched since a given time."""
        for progress in self.voters.values():
            is_silent = progress.last_fetch_ms is None or progress.last_fetch_ms <= since_ms
            if is_silent and not progress.key.admits(self._local):
                yield progress.key

    def is_caught_up(self, key: ReplicaKey, *, now_ms: int) -> bool:
        """Whether an observer may become a voter without delaying the high watermark."""
        progress = self.observers.get(key)
        return (
            progress is not None
            and progress.last_caught_up_ms is not None
            and progress.last_fetch_ms is not None
            and progress.last_fetch_ms > now_ms - CAUGHT_UP_MS
        )

    def live_observers(self, *, now_ms: int) -> list[ReplicaProgress]:
        """Removes observers that stopped fetching. Keeps the leader itself, which is an observer
        after its removal from the voters until it resigns."""
        for key, progress in list(self.observers.items()):
            last_fetch_ms = progress.last_fetch_ms
            is_gone = last_fetch_ms is None or now_ms - last_fetch_ms >= OBSERVER_SESSION_MS
            if is_gone and key != self._local:
                del self.observers[key]
        return [self.observers[key] for key in sorted(self.observers)]


class CheckQuorum:
    """Whether a majority still fetches from this leader; if not, it has to resign (KIP-595)."""

    def __init__(self, local: ReplicaKey, *, timeout_ms: int, now_ms: int) -> None:
        self._local = local
        self._timeout_ms = timeout_ms
        self._fetching_voters: set[int] = set()
        self.deadline_ms = now_ms + timeout_ms

    def record_fetch(self, key: ReplicaKey, voters: VoterSet, *, now_ms: int) -> None:
        """Recounts the majority on every fetch, since the voters may have changed."""
        if voters.has(key):
            self._fetching_voters.add(key.id)
        self._fetching_voters.intersection_update(voters.ids)
        is_voter = voters.has(self._local)
        if len(self._fetching_voters) + is_voter >= voters.majority:
            self._fetching_voters.clear()
            self.deadline_ms = now_ms + self._timeout_ms
