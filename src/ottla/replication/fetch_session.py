"""A follower's side of an incremental fetch session (KIP-227).

    no session ──all partitions, epoch 0──▶ session ──only changes, epoch 1, 2, ...──▶ ...
        ▲                                                                   │
        └────────────── an error of the session or of the connection ───────┘

The leader remembers what was asked for, so a request names only what is asked for anew or
differently, and what is not wanted any more. The work of a round is that of its changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from ottla.model import ErrorCode, Uuid
from ottla.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)

_NO_SESSION: Final = 0
_INITIAL_EPOCH: Final = 0
_EPOCH_MAX: Final = 2**31 - 1


class PartitionKey(NamedTuple):
    topic_id: Uuid
    partition: int


class FetcherSession:
    """Pure: says what to send, and is told what came of it. One request at a time."""

    __slots__ = ("_asked", "_epoch", "_forgotten", "_id")

    def __init__(self) -> None:
        self._id = _NO_SESSION
        self._epoch = _INITIAL_EPOCH
        # What the leader remembers for this session, or will once it has the next request.
        self._asked: set[PartitionKey] = set()
        self._forgotten: set[PartitionKey] = set()

    @property
    def is_new(self) -> bool:
        """Whether the next request has to name every partition."""
        return self._epoch == _INITIAL_EPOCH

    @property
    def partition_count(self) -> int:
        return len(self._asked)

    def forget(self, key: PartitionKey) -> None:
        """Asks for a partition no more, from the next request on."""
        if key in self._asked:
            self._asked.discard(key)
            self._forgotten.add(key)

    def fill(
        self, request: FetchRequest, changes: Iterable[tuple[PartitionKey, FetchPartition]]
    ) -> None:
        """Puts the session and what changed into the next request."""
        request.session_id = self._id
        request.session_epoch = self._epoch
        if self.is_new:
            self._asked.clear()
            self._forgotten.clear()
        topics: dict[Uuid, FetchTopic] = {}
        for key, asked in changes:
            topic = topics.get(key.topic_id)
            if topic is None:
                topic = topics[key.topic_id] = FetchTopic(topic_id=key.topic_id)
            topic.partitions.append(asked)
            self._asked.add(key)
            self._forgotten.discard(key)
        request.topics = list(topics.values())
        request.forgotten_topics_data = self._take_forgotten()

    def answered(self, response: FetchResponse) -> bool:
        """Goes on with what the leader made of the request; False if it knows no such session."""
        if response.error_code != ErrorCode.NONE:
            self.restart()
            return False
        if response.session_id == _NO_SESSION:
            # The leader has no room for a session: every request names everything.
            self._id, self._epoch = _NO_SESSION, _INITIAL_EPOCH
        else:
            self._id = response.session_id
            self._epoch = 1 if self._epoch == _EPOCH_MAX else self._epoch + 1
        return True

    def restart(self) -> None:
        """Begins anew with the next request. It names the old session, which ends with that."""
        self._epoch = _INITIAL_EPOCH

    def _take_forgotten(self) -> list[ForgottenTopic]:
        topics: dict[Uuid, ForgottenTopic] = {}
        for key in sorted(self._forgotten):
            topic = topics.get(key.topic_id)
            if topic is None:
                topic = topics[key.topic_id] = ForgottenTopic(topic_id=key.topic_id)
            topic.partitions.append(key.partition)
        self._forgotten.clear()
        return list(topics.values())
