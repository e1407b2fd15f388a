"""Incremental fetches (KIP-227): what a client asks for again and again is said once.

    no session ──epoch 0──▶ session ──epoch n, n+1, ...──▶ ... ──epoch -1 or eviction──▶ gone

In a session the node remembers the partitions and what it last told about each; a request names
only changes, and a response only partitions that have records, an error, or other offsets than
before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ottla.model import ErrorCode, KafkaError, Uuid
from ottla.runtime.dice import Dice
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, PartitionData

if TYPE_CHECKING:
    from ottla.broker.follower_fetch import FollowerNews

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
_EPOCH_MAX = 2**31 - 1
_SESSION_ID_MAX = 2**31 - 1


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

    __slots__ = ("epoch", "follower_news", "id", "wanted")

    def __init__(self, session_id: int, wanted: Iterable[Wanted]) -> None:
        self.id = session_id
        self.epoch = INITIAL_EPOCH + 1
        self.wanted = {each.key: each for each in wanted}
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


class FetchSessions:
    """All sessions of a node, bounded: the one that was idle longest makes room for a new one."""

    def __init__(self, dice: Dice, *, sessions_max: int) -> None:
        self._dice = dice
        self._sessions_max = sessions_max
        # In the order of their last use.
        self._sessions: dict[int, FetchSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def enter(self, request: FetchRequest) -> FetchSession | None:
        """The session that a request belongs to, or None for a fetch without one."""
        session_id, epoch = request.session_id, request.session_epoch
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            ended = self._sessions.pop(session_id, None)
            if ended is not None:
                ended.close()
            return self._open(request) if epoch == INITIAL_EPOCH else None
        session = self._sessions.pop(session_id, None)
        if session is None:
            raise KafkaError(
                ErrorCode.FETCH_SESSION_ID_NOT_FOUND, f"no fetch session has the id {session_id}"
            )
        self._sessions[session_id] = session
        if session.epoch != epoch:
            raise KafkaError(
                ErrorCode.INVALID_FETCH_SESSION_EPOCH,
                f"fetch session {session_id} is at epoch {session.epoch}, not {epoch}",
            )
        session.update(request)
        return session

    def _open(self, request: FetchRequest) -> FetchSession | None:
        if not self._sessions_max:
            return None
        while len(self._sessions) >= self._sessions_max:
            self._sessions.pop(next(iter(self._sessions))).close()
        session_id = self._dice.between(low=1, high=_SESSION_ID_MAX)
        while session_id in self._sessions:
            session_id = self._dice.between(low=1, high=_SESSION_ID_MAX)
        session = self._sessions[session_id] = FetchSession(session_id, wanted_of(request))
        return session


def wanted_of(request: FetchRequest) -> list[Wanted]:
    return [
        Wanted(topic.topic, topic.topic_id, partition)
        for topic in request.topics
        for partition in topic.partitions
    ]
