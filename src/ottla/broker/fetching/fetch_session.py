"""Fetch sessions, for incremental fetches (KIP-227).

    no session ──epoch 0──▶ session ──epoch n, n+1, ...──▶ ... ──epoch -1 or eviction──▶ closed

A session stores its partitions and the offsets last sent for each. A request names only changed
partitions; a response only partitions with records, an error, or changed offsets. The sessions of a
node are in fetch_session_cache.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

from ottla.broker.fetching.follower_changes import FollowerChanges
from ottla.broker.fetching.session_partition import SessionPartition, wanted_of
from ottla.model import NodeId
from ottla.wire.messages.fetch import FetchRequest

INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
_EPOCH_MAX: Final = 2**31 - 1


class FetchSession:
    """Partitions are kept in the order of the next read: those that returned records go last."""

    __slots__ = (
        "epoch",
        "follower",
        "follower_changes",
        "id",
        "opened_at",
        "owner",
        "size",
        "used_at",
        "wanted",
    )

    def __init__(
        self,
        session_id: int,
        wanted: Iterable[SessionPartition],
        owner: Hashable = None,
        *,
        follower: NodeId | None,
        opened_at: float,
    ) -> None:
        self.id = session_id
        self.epoch = INITIAL_EPOCH + 1
        self.wanted = {each.key: each for each in wanted}
        # The identity of the client that opened the session.
        self.owner = owner
        # The registered broker that opened the session; None for a consumer.
        self.follower = follower
        # By the monotonic clock, like `used_at`.
        self.opened_at = self.used_at = opened_at
        # The number of partitions as last counted by the cache.
        self.size = len(self.wanted)
        # The changed partitions of a follower's session.
        self.follower_changes: FollowerChanges | None = None

    def update(self, request: FetchRequest) -> None:
        for forgotten in request.forgotten_topics_data:
            keys = [(forgotten.topic, forgotten.topic_id, each) for each in forgotten.partitions]
            for key in keys:
                self.wanted.pop(key, None)
            if self.follower_changes is not None:
                self.follower_changes.forget(keys)
        for each in wanted_of(request):
            known = self.wanted.get(each.key)
            if known is None:
                self.wanted[each.key] = each
            else:
                if each.request.current_leader_epoch != known.request.current_leader_epoch:
                    # The fetcher may have dropped responses of an earlier leader epoch, so resend.
                    known.sent = None
                known.request = each.request
        self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1

    def close(self) -> None:
        """Called when the session is closed."""
        if self.follower_changes is not None:
            self.follower_changes.close()

    def serve_last(self, served: SessionPartition) -> None:
        self.wanted[served.key] = self.wanted.pop(served.key)
