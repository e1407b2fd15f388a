"""A follower as its leader knows it, from nothing but its fetches.

A fetch offset is a log end offset: the follower has everything below it. A follower is caught up
while it has all that the leader has, or had it no longer ago than `replica.lag.time.max.ms`. What
it has fetched up to by the time of a fetch, and whether that was all that there was at the fetch
before, tells since when it is behind; so one that is always a little behind under steady load is
caught up.
"""

from __future__ import annotations

from typing import Final

UNKNOWN_OFFSET: Final = -1
UNKNOWN_BROKER_EPOCH: Final = -1
_NEVER: Final = -(2**62)


class RemoteReplica:
    """Owned by the leader's `Leadership`, for as long as it leads. Times are monotonic."""

    __slots__ = (
        "_last_fetch_ms",
        "_leader_end_at_last_fetch",
        "broker_epoch",
        "caught_up_ms",
        "id",
        "is_joining",
        "log_end_offset",
        "log_start_offset",
    )

    def __init__(self, replica_id: int) -> None:
        self.id = replica_id
        self.log_end_offset = UNKNOWN_OFFSET
        self.log_start_offset = UNKNOWN_OFFSET
        self.broker_epoch = UNKNOWN_BROKER_EPOCH
        self.caught_up_ms = _NEVER
        # Not in the ISR, yet about to be: the high watermark waits for it, or it would run away
        # from a follower that is always a little behind.
        self.is_joining = False
        self._last_fetch_ms = _NEVER
        self._leader_end_at_last_fetch = UNKNOWN_OFFSET

    def begin_epoch(self, *, is_in_sync: bool, leader_end: int, now_ms: int) -> None:
        """A new leader epoch begins: who is in sync gets all the time there is to fetch. What it
        has is not known before it does: another leader may have been in between."""
        self.log_end_offset = UNKNOWN_OFFSET
        self.caught_up_ms = self._last_fetch_ms = now_ms if is_in_sync else _NEVER
        self._leader_end_at_last_fetch = leader_end
        self.is_joining = False

    def fetched(
        self,
        *,
        offset: int,
        log_start_offset: int,
        broker_epoch: int,
        leader_end: int,
        now_ms: int,
    ) -> None:
        if offset >= leader_end:
            self.caught_up_ms = now_ms
        elif offset >= self._leader_end_at_last_fetch:
            self.caught_up_ms = max(self.caught_up_ms, self._last_fetch_ms)
        self.log_end_offset = offset
        self.log_start_offset = log_start_offset
        self.broker_epoch = broker_epoch
        self._last_fetch_ms = now_ms
        self._leader_end_at_last_fetch = max(leader_end, self._leader_end_at_last_fetch)

    def look(self, *, leader_end: int, now_ms: int) -> None:
        """Notes that an idle follower has everything: its fetches need not touch every partition
        that nothing is appended to."""
        if self.log_end_offset == leader_end:
            self.caught_up_ms = now_ms

    def is_caught_up(self, *, leader_end: int, now_ms: int, lag_max_ms: int) -> bool:
        return self.log_end_offset == leader_end or now_ms - self.caught_up_ms <= lag_max_ms
