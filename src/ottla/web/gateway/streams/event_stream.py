"""Server-sent events of one session, until the client leaves.

id: user-events/7/48291035
data: {"topic": "user-events", "partition": 7, "offset": 48291035, …}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ottla.client.records import ConsumedRecord
from ottla.web.gateway.cluster_problems import CLIENT_ERRORS, problem_of
from ottla.web.gateway.messages.answers import PolledMessage, encoder
from ottla.web.gateway.sessions.gateway_sessions import ConsumerSession, GatewaySessions
from ottla.web.service.problems import HttpProblem

_RECORDS: Final = 500
_BYTES: Final = 1 << 20
# Also how often a stream without messages sends a comment, so that proxies keep it open.
_WAIT_S: Final = 2.0
_COMMENT: Final = b": \n\n"


class EventStream(Response):
    """Owns the session: closes it at the end."""

    media_type = "text/event-stream"

    def __init__(self, sessions: GatewaySessions, session: ConsumerSession) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        # A stream has no length.
        del self.headers["content-length"]
        self._sessions = sessions
        self._session = session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        watch = self._sessions.tasks.start("watching a stream", _until_gone(receive))
        try:
            await send(
                {
                    "type": "http.response.start",
                    "status": self.status_code,
                    "headers": self.raw_headers,
                }
            )
            async with self._sessions.turn(self._session) as consumer:
                while not (watch.done() or self._sessions.is_ending):
                    records = await self._sessions.read(
                        consumer,
                        max_records=_RECORDS,
                        max_bytes=_BYTES,
                        min_bytes=0,
                        wait_s=_WAIT_S,
                    )
                    await send(_part(_events(records) or _COMMENT))
                    if watch.done():
                        # The client may not have got them.
                        await self._sessions.give_back(consumer, records)
        except (HttpProblem, *CLIENT_ERRORS) as error:
            problem = error if isinstance(error, HttpProblem) else problem_of(error)
            await send(_part(b"event: error\ndata: " + encoder.encode(problem.message) + b"\n\n"))
        finally:
            watch.cancel()
            await self._sessions.close_session(self._session.name)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _part(body: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": True}


def _events(records: Sequence[ConsumedRecord]) -> bytes:
    return b"".join(
        b"id: %s/%d/%d\ndata: %s\n\n"
        % (
            record.topic.encode(),
            record.partition,
            record.offset,
            encoder.encode(PolledMessage.of(record)),
        )
        for record in records
    )


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
