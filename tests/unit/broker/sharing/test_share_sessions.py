"""Share sessions end with their connection, which keeps nothing of those that ended before."""

from __future__ import annotations

from collections.abc import Callable

from ottla.broker.network.client_session import ClientSession
from ottla.broker.sharing.share_sessions import ShareSessions
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
