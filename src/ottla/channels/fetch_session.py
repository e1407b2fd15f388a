"""The fetching side of an incremental fetch session (KIP-227): a follower or a consumer.

    no session ──all partitions, epoch 0──▶ session ──only changes, epoch 1, 2, ...──▶ ...
        ▲                                                                   │
        └────────────── an error of the session or of the connection ───────┘

The leader stores the session's partitions, so a request contains only added, changed and forgotten
partitions. The cost of a request depends only on the number of changes.
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
_FINAL_EPOCH: Final = -1
_EPOCH_MAX: Final = 2**31 - 1


class PartitionKey(NamedTuple):
    topic_id: Uuid
    partition: int


class FetcherSession:
    """The session state, without I/O: fills requests and processes responses. One request at a
    time."""

    __slots__ = ("_epoch", "_forgotten", "_id", "_session_partitions")

    def __init__(self) -> None:
        self._id = _NO_SESSION
        self._epoch = _INITIAL_EPOCH
        # The partitions in the leader's session once it has received the next request.
        self._session_partitions: set[PartitionKey] = set()
        self._forgotten: set[PartitionKey] = set()

    @property
    def is_new(self) -> bool:
        """Whether the next request has to contain every partition."""
        return self._epoch == _INITIAL_EPOCH

    @property
    def partition_count(self) -> int:
        return len(self._session_partitions)

    def forget(self, key: PartitionKey) -> None:
        """Removes a partition from the session with the next request."""
        if key in self._session_partitions:
            self._session_partitions.discard(key)
            self._forgotten.add(key)

    def fill(
        self, request: FetchRequest, changes: Iterable[tuple[PartitionKey, FetchPartition]]
    ) -> None:
        """Sets the request's session fields, changed partitions and forgotten partitions."""
        request.session_id = self._id
        request.session_epoch = self._epoch
        if self.is_new:
            self._session_partitions.clear()
            self._forgotten.clear()
        topics: dict[Uuid, FetchTopic] = {}
        for key, partition in changes:
            topic = topics.get(key.topic_id)
            if topic is None:
                topic = topics[key.topic_id] = FetchTopic(topic_id=key.topic_id)
            topic.partitions.append(partition)
            self._session_partitions.add(key)
            self._forgotten.discard(key)
        request.topics = list(topics.values())
        request.forgotten_topics_data = self._take_forgotten()

    def answered(self, response: FetchResponse) -> bool:
        """Updates the session from the response. Returns False if the response has an error; the
        session then restarts."""
        if response.error_code != ErrorCode.NONE:
            self.restart()
            return False
        if response.session_id == _NO_SESSION:
            # The leader's session cache is full: every request contains all partitions.
            self._id, self._epoch = _NO_SESSION, _INITIAL_EPOCH
        else:
            self._id = response.session_id
            self._epoch = 1 if self._epoch == _EPOCH_MAX else self._epoch + 1
        return True

    def restart(self) -> None:
        """Starts a new session with the next request. That request carries the old session id, so
        the leader closes the old session."""
        self._epoch = _INITIAL_EPOCH

    def end(self, request: FetchRequest) -> bool:
        """Makes a request without partitions the session's last one, which removes it from the
        leader's cache. Returns False if there is no session."""
        if self._id == _NO_SESSION:
            return False
        request.session_id, request.session_epoch = self._id, _FINAL_EPOCH
        self._id, self._epoch = _NO_SESSION, _INITIAL_EPOCH
        return True

    def _take_forgotten(self) -> list[ForgottenTopic]:
        topics: dict[Uuid, ForgottenTopic] = {}
        for key in sorted(self._forgotten):
            topic = topics.get(key.topic_id)
            if topic is None:
                topic = topics[key.topic_id] = ForgottenTopic(topic_id=key.topic_id)
            topic.partitions.append(key.partition)
        self._forgotten.clear()
        return list(topics.values())
