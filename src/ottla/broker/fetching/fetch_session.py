"""Incremental fetches (KIP-227): what a client asks for again and again is said once.

    no session ──epoch 0──▶ session ──epoch n, n+1, ...──▶ ... ──epoch -1 or eviction──▶ gone

fetch_session_cache.py has the sessions of a node. In one, the node remembers the partitions and
what it last told about each; a request names only changes, and a response only partitions that have
records, an error, or other offsets than before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ottla.model import NodeId, Uuid
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, PartitionData

if TYPE_CHECKING:
    from ottla.broker.fetching.follower_fetch import FollowerNews

INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
_EPOCH_MAX: Final = 2**31 - 1


@dataclass(slots=True)
class Wanted:
    """A partition that a client fetches, and what it was last told about it."""

    topic: str
    topic_id: Uuid
    request: FetchPartition
    told: tuple[int, int, int] | None = None

    @property
    def key(self) -> tuple[str, Uuid, int]:
        return self.topic, self.topic_id, self.request.partition

    def has_news(self, answer: PartitionData) -> bool:
        """Whether an incremental response has to name this partition; remembers what it says."""
        offsets = (answer.high_watermark, answer.last_stable_offset, answer.log_start_offset)
        is_news = offsets != self.told
        self.told = offsets
        return bool(
            is_news or answer.error_code or answer.records or answer.diverging_epoch is not None
        )


class FetchSession:
    """Partitions are kept in the order in which they are next served: who got records goes last."""

    __slots__ = (
        "epoch",
        "follower",
        "follower_news",
        "id",
        "opened_at",
        "size",
        "used_at",
        "wanted",
    )

    def __init__(
        self,
        session_id: int,
        wanted: Iterable[Wanted],
        *,
        follower: NodeId | None,
        opened_at: float,
    ) -> None:
        self.id = session_id
        self.epoch = INITIAL_EPOCH + 1
        self.wanted = {each.key: each for each in wanted}
        # The registered broker that opened it, if one did.
        self.follower = follower
        # By the monotonic clock, like `used_at`.
        self.opened_at = self.used_at = opened_at
        # As the cache of sessions knows it.
        self.size = len(self.wanted)
        # A follower's session is told what has changed.
        self.follower_news: FollowerNews | None = None

    def update(self, request: FetchRequest) -> None:
        for forgotten in request.forgotten_topics_data:
            keys = [(forgotten.topic, forgotten.topic_id, each) for each in forgotten.partitions]
            for key in keys:
                self.wanted.pop(key, None)
            if self.follower_news is not None:
                self.follower_news.forget(keys)
        for each in wanted_of(request):
            known = self.wanted.get(each.key)
            if known is None:
                self.wanted[each.key] = each
            else:
                if each.request.current_leader_epoch != known.request.current_leader_epoch:
                    # What was told under another epoch, whoever fetches did not take.
                    known.told = None
                known.request = each.request
        self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1

    def close(self) -> None:
        """The session is over."""
        if self.follower_news is not None:
            self.follower_news.close()

    def serve_last(self, served: Wanted) -> None:
        self.wanted[served.key] = self.wanted.pop(served.key)


def wanted_of(request: FetchRequest) -> list[Wanted]:
    return [
        Wanted(topic.topic, topic.topic_id, partition)
        for topic in request.topics
        for partition in topic.partitions
    ]
