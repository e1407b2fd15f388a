"""Share sessions end with their connection, which keeps nothing of those that ended before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ottla.broker.network.client_session import ClientSession
from ottla.broker.sharing.share_sessions import ShareSessions, TopicIndex
from ottla.model import ErrorCode, KafkaError, Uuid
from tests.support.nodes.one_node import StartNode


class WatchedConnection:
    """A `ClientConnectionEnd` without a client."""

    def __init__(self) -> None:
        self.callbacks: list[Callable[[], None]] = []

    @property
    def session(self) -> ClientSession:
        raise NotImplementedError

    def close(self) -> None: ...

    def when_closed(self, callback: Callable[[], None]) -> None:
        self.callbacks.append(callback)

    def ignore_close(self, callback: Callable[[], None]) -> None:
        self.callbacks.remove(callback)


def test_a_connection_keeps_only_the_sessions_that_have_not_ended(start_node: StartNode) -> None:
    sessions = ShareSessions(start_node().broker.cluster)
    connection = WatchedConnection()
    for _ in range(3):
        session = sessions.begin("group", "member", connection)
    assert len(connection.callbacks) == 1
    connection.callbacks[0]()
    assert len(sessions) == 0
    session = sessions.begin("group", "member", connection)
    sessions.end(session)
    assert connection.callbacks == []


def test_a_session_has_a_limited_number_of_partitions(start_node: StartNode) -> None:
    sessions = ShareSessions(start_node().broker.cluster)
    topic_id = Uuid(bytes(16))
    first = sessions.begin("group", "first", None)
    sessions.update(first, (TopicIndex(topic_id, number) for number in range(20_000)), ())
    sessions.update(first, [TopicIndex(topic_id, 5)], [TopicIndex(topic_id, 6)])
    assert (len(first.partitions), sessions.partition_count) == (19_999, 19_999)
    with pytest.raises(KafkaError) as refused:
        sessions.update(first, [TopicIndex(topic_id, -1), TopicIndex(topic_id, -2)], ())
    assert refused.value.code is ErrorCode.SHARE_SESSION_LIMIT_REACHED
    second = sessions.begin("group", "second", None)
    sessions.update(second, [TopicIndex(topic_id, 1)], ())
    sessions.end(first)
    assert sessions.partition_count == 1
