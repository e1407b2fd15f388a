"""The leader's state of one follower, derived only from the follower's fetches.

A fetch offset is the follower's log end offset: it has everything below. A follower is caught up
if it has everything the leader has, or had it within the last `replica.lag.time.max.ms`. If a fetch
offset has reached the leader's log end offset at the time of the follower's previous fetch, the
follower counts as caught up at that previous fetch. So a follower that is always slightly behind
under steady load stays caught up.
"""

from __future__ import annotations

from typing import Final

UNKNOWN_OFFSET: Final = -1
UNKNOWN_BROKER_EPOCH: Final = -1
_NEVER: Final = -(2**62)


class RemoteReplica:
    """Owned by the partition's `Leadership`. Times are monotonic."""

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
        # About to join the ISR. The high watermark waits for it; otherwise a follower that is
        # always slightly behind could never reach it.
        self.is_joining = False
        self._last_fetch_ms = _NEVER
        self._leader_end_at_last_fetch = UNKNOWN_OFFSET

    def begin_epoch(self, *, is_in_sync: bool, leader_end: int, now_ms: int) -> None:
        """Starts a new leader epoch: in-sync followers get the full lag time to fetch. Their log
        end offsets are unknown until then: they may have followed another leader meanwhile."""
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
        """Marks a follower that has everything as caught up. Its incremental fetches do not contain
        partitions without new records."""
        if self.log_end_offset == leader_end:
            self.caught_up_ms = now_ms

    def is_caught_up(self, *, leader_end: int, now_ms: int, lag_max_ms: int) -> bool:
        return self.log_end_offset == leader_end or now_ms - self.caught_up_ms <= lag_max_ms
