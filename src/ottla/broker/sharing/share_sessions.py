"""Share sessions: which partitions a member of a share group fetches from this node (KIP-932).

A session begins with epoch 0 and ends with epoch -1, with its connection, or when the member begins
another one. What the member has locked is then released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import ClientConnectionEnd
from ottla.model import ErrorCode, KafkaError, Uuid

FIRST_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
_EPOCH_MAX: Final = 2**31 - 1
# Clients name the partitions of their sessions, also some that do not exist.
_SESSION_PARTITIONS_MAX: Final = 20_000
_PARTITIONS_MAX: Final = 500_000


class TopicIndex(NamedTuple):
    topic_id: Uuid
    partition: int


class ShareSession:
    """Owned by the node's sessions. `partitions` is in the order in which they are served."""

    def __init__(self, group_id: str, member_id: str) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.epoch = 1
        self.partitions: dict[TopicIndex, None] = {}
        # Called when the session has ended: its connection forgets it.
        self.leave_connection: Callable[[], None] = lambda: None

    def serve_last(self, index: TopicIndex) -> None:
        """Moves a partition that had records to the end, so that others have their turn."""
        if index in self.partitions:
            del self.partitions[index]
            self.partitions[index] = None

    def advance(self) -> None:
        self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1


class ShareSessions:
    """Owned by the node's loop."""

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._sessions: dict[tuple[str, str], ShareSession] = {}
        self._counts: Counter[str] = Counter()
        self._partition_count = 0
        # Called with a session that has ended.
        self.ended: Callable[[ShareSession], None] = lambda _session: None

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def partition_count(self) -> int:
        return self._partition_count

    def count_of(self, group_id: str) -> int:
        return self._counts[group_id]

    def begin(
        self, group_id: str, member_id: str, connection: ClientConnectionEnd | None
    ) -> ShareSession:
        """Begins a new session, and ends the member's earlier one."""
        before = self._sessions.get((group_id, member_id))
        if before is not None:
            self.end(before)
        elif len(self._sessions) >= self._cluster.config.group_share_max_share_sessions:
            raise KafkaError(
                ErrorCode.SHARE_SESSION_LIMIT_REACHED,
                "this node has as many share sessions as group.share.max.share.sessions allows",
            )
        session = ShareSession(group_id, member_id)
        self._sessions[group_id, member_id] = session
        self._counts[group_id] += 1
        if connection is not None:
            end = partial(self.end, session)
            connection.when_closed(end)
            session.leave_connection = partial(connection.ignore_close, end)
        return session

    def require(self, group_id: str, member_id: str, epoch: int) -> ShareSession:
        """The session of a request; its epoch advances, unless the request ends it."""
        session = self._sessions.get((group_id, member_id))
        if session is None:
            raise KafkaError(
                ErrorCode.SHARE_SESSION_NOT_FOUND, f"member {member_id} has no share session here"
            )
        if epoch != FINAL_EPOCH:
            if session.epoch != epoch:
                raise KafkaError(
                    ErrorCode.INVALID_SHARE_SESSION_EPOCH,
                    f"the share session has epoch {session.epoch}, not {epoch}",
                )
            session.advance()
        return session

    def update(
        self,
        session: ShareSession,
        added: Iterable[TopicIndex],
        forgotten: Iterable[TopicIndex],
    ) -> None:
        """Changes the partitions of a session. Raises SHARE_SESSION_LIMIT_REACHED if they become
        too many, and then nothing is added."""
        partitions = session.partitions
        new = dict.fromkeys(each for each in added if each not in partitions)
        room = min(
            _SESSION_PARTITIONS_MAX - len(partitions), _PARTITIONS_MAX - self._partition_count
        )
        if len(new) > room:
            raise KafkaError(
                ErrorCode.SHARE_SESSION_LIMIT_REACHED,
                f"a share session has at most {_SESSION_PARTITIONS_MAX:,} partitions, and those of "
                f"a node {_PARTITIONS_MAX:,}",
            )
        before = len(partitions)
        partitions |= new
        for each in forgotten:
            partitions.pop(each, None)
        self._partition_count += len(partitions) - before

    def end(self, session: ShareSession) -> None:
        key = session.group_id, session.member_id
        if self._sessions.get(key) is not session:
            return
        del self._sessions[key]
        self._partition_count -= len(session.partitions)
        self._counts[session.group_id] -= 1
        if not self._counts[session.group_id]:
            del self._counts[session.group_id]
        session.leave_connection()
        self.ended(session)
