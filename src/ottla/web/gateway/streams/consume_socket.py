"""A WebSocket that gets the messages of one session.

The gateway sends `{"messages": […]}`. The client may send

    {"type": "commit", "offsets": {"user-events": {"7": 48291035}}}
    {"type": "seek", "topic": "user-events", "partition": 7, "offset": 48000000}

and gets `{"committed": …}`, `{"position": …}`, or `{"problem": …}`.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from ottla.client.records import OffsetAndMetadata
from ottla.model import TopicPartition
from ottla.web.gateway.cluster_problems import CLIENT_ERRORS, problem_of
from ottla.web.gateway.messages.answers import encoder, poll_answer
from ottla.web.gateway.messages.bodies import OffsetNumber, OffsetsBody, SeekBody, refused_json
from ottla.web.gateway.problems import GatewayProblem
from ottla.web.gateway.sessions.gateway_sessions import (
    ConsumerSession,
    GatewaySessions,
    OpenConsumer,
)
from ottla.web.service.problems import HttpProblem

_RECORDS: Final = 500
_BYTES: Final = 1 << 20
# After at most this time a frame of the client is looked at.
_WAIT_S: Final = 0.1
_COMMANDS_MAX: Final = 100


class CommitFrame(OffsetsBody, frozen=True, tag="commit"):
    pass


class SeekFrame(SeekBody, frozen=True, tag="seek"):
    pass


_frame: Final = msgspec.json.Decoder(CommitFrame | SeekFrame)


class ConsumeSocket:
    """Owns the session: closes it at the end."""

    def __init__(
        self, sessions: GatewaySessions, session: ConsumerSession, socket: WebSocket
    ) -> None:
        self._sessions = sessions
        self._session = session
        self._socket = socket
        self._frames: deque[str | bytes] = deque()

    async def run(self) -> None:
        listening = None
        try:
            await self._socket.accept()
            listening = self._sessions.tasks.start("reading a socket", self._listen())
            async with self._sessions.turn(self._session) as consumer:
                while not (listening.done() or self._sessions.is_ending):
                    await self._step(consumer)
        except WebSocketDisconnect:
            pass
        except (HttpProblem, *CLIENT_ERRORS) as error:
            problem = error if isinstance(error, HttpProblem) else problem_of(error)
            await self._socket.close(1011, problem.message[:120])
        finally:
            if listening is not None:
                listening.cancel()
            await self._sessions.close_session(self._session.name)

    async def _listen(self) -> None:
        """Ends when the client leaves, or sends more than it may."""
        while len(self._frames) < _COMMANDS_MAX:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            self._frames.append(message.get("text") or message.get("bytes") or "")

    async def _step(self, consumer: OpenConsumer) -> None:
        while self._frames:
            await self._send(await self._answer(consumer, self._frames.popleft()))
        records = await self._sessions.read(
            consumer, max_records=_RECORDS, max_bytes=_BYTES, min_bytes=0, wait_s=_WAIT_S
        )
        if records:
            await self._socket.send_text(poll_answer(records).decode())

    async def _answer(self, consumer: OpenConsumer, text: str | bytes) -> dict[str, Any]:
        try:
            frame = _frame.decode(text)
            if isinstance(frame, CommitFrame):
                return {"committed": await self._commit(consumer, frame)}
            partition = TopicPartition(frame.topic, frame.partition)
            self._sessions.require_assigned(consumer, [partition])
            await consumer.client.seek(partition, frame.offset)
        except msgspec.MsgspecError as error:
            return {"problem": refused_json(error).members()}
        except CLIENT_ERRORS as error:
            return {"problem": problem_of(error).members()}
        except GatewayProblem as problem:
            return {"problem": problem.members()}
        return {
            "position": {
                "topic": frame.topic,
                "partition": frame.partition,
                "offset": frame.offset,
            }
        }

    async def _commit(
        self, consumer: OpenConsumer, frame: CommitFrame
    ) -> dict[str, dict[int, OffsetNumber]]:
        offsets = {
            TopicPartition(topic, partition): OffsetAndMetadata(offset)
            for topic, partitions in frame.offsets.items()
            for partition, offset in partitions.items()
        }
        await self._sessions.commit(consumer, offsets)
        return frame.offsets

    async def _send(self, found: dict[str, Any]) -> None:
        await self._socket.send_text(encoder.encode(found).decode())
