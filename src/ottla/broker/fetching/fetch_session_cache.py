"""The fetch sessions of a node, and which of them a new one evicts (KIP-227).

A session is privileged if a registered broker opened it as a follower. When all slots are taken, a
new session evicts the first of these that exists:

1. the least recently used session, if it is unused for more than two minutes;
2. if the new session is privileged, the least recently used session that is not;
3. the smallest session of the same kind that was opened more than two minutes ago, if it has fewer
   partitions than the new one.

If there is none, the response has no session (id 0), and the client sends a full fetch next time.
Apache Kafka does the same, except that its rule 2 evicts the smallest session.

A session is only for clients with the identity of the one that opened it: ids have 31 bits and can
be guessed. For others it does not exist.

Three limits are Ottla's own:
- A follower has at most `_SESSIONS_PER_FOLLOWER_MAX` sessions; a further one evicts its own least
  recently used. Until brokers are authenticated, any client can claim to be a follower, and must
  not take all slots.
- A session has at most `_UNKNOWN_PARTITIONS_MAX` more partitions than this node.
- All sessions together have at most `_PARTITIONS_MAX` partitions; beyond it, sessions are evicted
  by rules 1 and 2.
A session that grows beyond a limit is closed with FETCH_SESSION_ID_NOT_FOUND.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from ottla.broker.fetching.fetch_session import FINAL_EPOCH, INITIAL_EPOCH, FetchSession
from ottla.broker.fetching.fetch_session_ranking import FetchSessionRanking
from ottla.broker.fetching.session_partition import wanted_of
from ottla.model import ErrorCode, KafkaError, NodeId
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.wire.messages.fetch import FetchRequest

_SESSION_ID_MAX: Final = 2**31 - 1
_UNUSED_SECONDS_MAX: Final = 120.0
# Above num.replica.fetchers, to leave room for a broker's sessions from before its restart.
_SESSIONS_PER_FOLLOWER_MAX: Final = 16
# 65 MB: a partition takes 324 bytes.
_PARTITIONS_MAX: Final = 200_000
# A client may fetch partitions that were just deleted, or that this node does not have yet.
_UNKNOWN_PARTITIONS_MAX: Final = 1_000


class FetchSessionCache:
    """Created with the broker, and owned by its loop."""

    def __init__(
        self, clock: Clock, dice: Dice, *, sessions_max: int, partitions_here: Callable[[], int]
    ) -> None:
        self._clock = clock
        self._dice = dice
        self._sessions_max = sessions_max
        self._partitions_here = partitions_here
        self._sessions: dict[int, FetchSession] = {}
        self._privileged = FetchSessionRanking()
        self._others = FetchSessionRanking()
        # Ordered by last use.
        self._of_follower: dict[NodeId, dict[int, FetchSession]] = {}
        self.partition_count = 0
        # The sessions that were closed to make room for another one.
        self.evictions = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def enter(
        self, request: FetchRequest, owner: Hashable = None, *, follower: NodeId | None = None
    ) -> FetchSession | None:
        """The session of a request, or None for a fetch without one. `owner` is the identity of the
        sender; `follower` is the registered broker that sent the request, None for a consumer."""
        session_id, epoch = request.session_id, request.session_epoch
        session = self._sessions.get(session_id)
        if session is not None and session.owner != owner:
            session = None
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            if session is not None:
                self._close(session)
            return self._maybe_open(request, owner, follower) if epoch == INITIAL_EPOCH else None
        if session is None:
            raise KafkaError(
                ErrorCode.FETCH_SESSION_ID_NOT_FOUND, f"no fetch session has the id {session_id}"
            )
        self._use(session)
        if session.epoch != epoch:
            raise KafkaError(
                ErrorCode.INVALID_FETCH_SESSION_EPOCH,
                f"fetch session {session_id} is at epoch {session.epoch}, not {epoch}",
            )
        session.update(request)
        if len(session.wanted) != session.size:
            self._resize(session)
        return session

    def _maybe_open(
        self, request: FetchRequest, owner: Hashable, follower: NodeId | None
    ) -> FetchSession | None:
        size = sum(len(topic.partitions) for topic in request.topics)
        if not self._sessions_max or size > self._size_max():
            return None
        if not self._make_room(size, follower):
            return None
        session_id = self._dice.between(low=1, high=_SESSION_ID_MAX)
        while session_id in self._sessions:
            session_id = self._dice.between(low=1, high=_SESSION_ID_MAX)
        now = self._clock.monotonic()
        session = FetchSession(
            session_id, wanted_of(request), owner, follower=follower, opened_at=now
        )
        self._sessions[session_id] = session
        self._ranking_of(session).add(session)
        if follower is not None:
            self._of_follower.setdefault(follower, {})[session_id] = session
        self.partition_count += session.size
        return session

    def _make_room(self, size: int, follower: NodeId | None) -> bool:
        """Evicts sessions for a new one of `size` partitions. Returns False if there is no room."""
        if follower is not None:
            own = self._of_follower.get(follower, {})
            if len(own) >= _SESSIONS_PER_FOLLOWER_MAX:
                self._evict(next(iter(own.values())))
        now = self._clock.monotonic()
        if len(self._sessions) >= self._sessions_max:
            replaced = self._unused(now, follower) or self._smaller(now, size, follower)
            if replaced is None:
                return False
            self._evict(replaced)
        while self.partition_count + size > _PARTITIONS_MAX:
            unused = self._unused(now, follower)
            if unused is None:
                return False
            self._evict(unused)
        return True

    def _unused(self, now: float, follower: NodeId | None) -> FetchSession | None:
        rankings = (self._others, self._privileged)
        longest = [each for each in (ranking.longest_unused for ranking in rankings) if each]
        unused = min(longest, key=lambda session: session.used_at, default=None)
        if unused is not None and now - unused.used_at > _UNUSED_SECONDS_MAX:
            return unused
        return self._others.longest_unused if follower is not None else None

    def _smaller(self, now: float, size: int, follower: NodeId | None) -> FetchSession | None:
        ranking = self._others if follower is None else self._privileged
        smallest = ranking.smallest(opened_before=now - _UNUSED_SECONDS_MAX)
        return None if smallest is None or smallest.size >= size else smallest

    def _use(self, session: FetchSession) -> None:
        session.used_at = self._clock.monotonic()
        if session.follower is None:
            self._others.used(session)
        else:
            self._privileged.used(session)
            own = self._of_follower[session.follower]
            own[session.id] = own.pop(session.id)

    def _resize(self, session: FetchSession) -> None:
        size = len(session.wanted)
        self.partition_count += size - session.size
        has_grown = size > session.size
        session.size = size
        self._ranking_of(session).resized(session)
        if has_grown and (size > self._size_max() or self.partition_count > _PARTITIONS_MAX):
            self._close(session)
            raise KafkaError(
                ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
                f"fetch session {session.id} has too many partitions: {size}",
            )

    def _evict(self, session: FetchSession) -> None:
        self.evictions += 1
        self._close(session)

    def _close(self, session: FetchSession) -> None:
        del self._sessions[session.id]
        self._ranking_of(session).remove(session)
        if session.follower is not None:
            own = self._of_follower[session.follower]
            del own[session.id]
            if not own:
                del self._of_follower[session.follower]
        self.partition_count -= session.size
        session.close()

    def _ranking_of(self, session: FetchSession) -> FetchSessionRanking:
        return self._others if session.follower is None else self._privileged

    def _size_max(self) -> int:
        return self._partitions_here() + _UNKNOWN_PARTITIONS_MAX
