"""One connection to one node: sends requests and resolves each with its response.

    connecting ──▶ open ──closed, lost, invalid response or request timeout──▶ closed
                   │  ▲
                   ╰──╯ authenticated again (KIP-368)

Requests are pipelined. A node responds to the requests of one connection in order, so a long poll
delays all requests sent after it: use a separate channel for long polls. For the same reason a
request that times out closes the connection, since the requests after it would wait as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from struct import Struct as Layout
from typing import Any, Final, NamedTuple, Self

from ottla.channels.authentication import AuthenticationFailedError, authenticate
from ottla.channels.channel_security import PLAINTEXT, ChannelSecurity
from ottla.channels.errors import ChannelError, NotSentError, RequestTimedOutError
from ottla.model import Buffer
from ottla.runtime.clock import Clock, Timer
from ottla.runtime.network import Address, Connection, Network
from ottla.runtime.tls.errors import TlsHandshakeError
from ottla.wire.errors import ProtocolError
from ottla.wire.frames import FrameReader
from ottla.wire.requests import decode_response, encode_request
from ottla.wire.schema import Message

# A fetch response may have a batch that is larger than any limit. Memory is allocated only for
# bytes that have arrived.
_RESPONSE_BYTES_MAX: Final = 2**31 - 1
# Before that, the peer may be anyone.
_AUTHENTICATION_BYTES_MAX: Final = 512 * 1024
_CORRELATION_IDS: Final = 2**31
_CORRELATION: Final = Layout(">i")
# A busy node may take up a request some seconds after it was sent, and ends the session if that is
# too late.
_TAKING_UP_SECONDS: Final = 5.0
# A node lets a client authenticate again once a second (KIP-368).
_INTERVAL_SECONDS: Final = 1.1


class _Outstanding(NamedTuple):
    """A request that was sent and has no response yet."""

    name: str
    key: int
    version: int
    answer: asyncio.Future[Any]
    timer: Timer


class Channel:
    """Created by `connect`, closed by `close` or by the peer; it does not reconnect.

    Owned by the loop that created it. `on_closed` is called once, when nothing can be sent any
    more, after every outstanding request has failed with a `ChannelError`.
    """

    def __init__(
        self,
        clock: Clock,
        address: Address,
        *,
        client_id: str,
        on_closed: Callable[[Channel], None],
    ) -> None:
        self.address = address
        self._clock = clock
        self._client_id = client_id
        self._on_closed = on_closed
        self._frames = FrameReader(frame_bytes_max=_RESPONSE_BYTES_MAX, keeps_memory=True)
        self._connection: Connection | None = None
        self._correlation_id = 0
        self._outstanding: dict[int, _Outstanding] = {}
        # Why this side closed the connection; takes precedence over the error from the network.
        self._reason: str | None = None
        self.is_open = False
        self._security = PLAINTEXT
        self._is_established = False
        # Whether the node has authenticated this side, or answered a request. With TLS 1.3, a node
        # refuses a certificate only after the handshake.
        self.is_accepted = False
        self._authenticate_at: float | None = None
        # Resolved when no request is outstanding.
        self._answered_all: asyncio.Future[None] | None = None

    @classmethod
    async def connect(
        cls,
        network: Network,
        clock: Clock,
        address: Address,
        *,
        client_id: str,
        timeout_ms: int,
        on_closed: Callable[[Channel], None] = lambda _channel: None,
        security: ChannelSecurity = PLAINTEXT,
    ) -> Self:
        """Returns when the connection is established and authenticated. Raises ChannelError if it
        is not within the timeout."""
        channel = cls(clock, address, client_id=client_id, on_closed=on_closed)
        channel._security = security
        task = asyncio.current_task()
        assert task is not None
        is_late = False

        def give_up() -> None:
            nonlocal is_late
            is_late = True
            task.cancel()

        timer = clock.call_later(timeout_ms / 1_000, give_up)
        try:
            await security.connect(network, address, channel)
            await channel._authenticate(timeout_ms=timeout_ms)
        except ChannelError as error:
            channel.close()
            if isinstance(error, AuthenticationFailedError):
                security.on_outcome(address, error)
            raise
        except OSError as error:
            if isinstance(error, TlsHandshakeError):
                security.on_outcome(address, error)
            raise ChannelError(f"cannot connect to {address}: {error}") from error
        except asyncio.CancelledError:
            channel.close()
            if is_late and task.uncancel() == 0:
                raise ChannelError(
                    f"cannot connect to {address}: timed out after {timeout_ms} ms"
                ) from None
            raise
        finally:
            timer.cancel()
        channel._is_established = True
        if security.mechanism is not None:
            channel._accept()
        return channel

    @property
    def should_reauthenticate(self) -> bool:
        """Whether the node ends this session soon (KIP-368). Send nothing more before
        `reauthenticate`: the node refuses other requests during the exchange."""
        return self._authenticate_at is not None and self._clock.monotonic() > self._authenticate_at

    async def reauthenticate(self, *, timeout_ms: int) -> None:
        """Authenticates again, after the responses to the outstanding requests: the node takes up
        the exchange only then. Raises ChannelError."""
        if self._outstanding:
            self._answered_all = asyncio.get_running_loop().create_future()
            await self._answered_all
        await self._authenticate(timeout_ms=timeout_ms)

    async def _authenticate(self, *, timeout_ms: int) -> None:
        if self._security.mechanism is None:
            return
        if self._security.prepare is not None:
            await self._security.prepare()
        started = self._clock.monotonic()
        self._frames.frame_bytes_max = _AUTHENTICATION_BYTES_MAX
        try:
            lifetime_ms = await authenticate(
                self, self._security.mechanism(), timeout_ms=timeout_ms
            )
        except AuthenticationFailedError as error:
            raise AuthenticationFailedError(
                f"cannot log in to {self.address}: {error}", reason=str(error)
            ) from None
        self._frames.frame_bytes_max = _RESPONSE_BYTES_MAX
        self._authenticate_at = None
        if lifetime_ms > 0:
            self._authenticate_at = started + seconds_to_reauthentication(lifetime_ms / 1_000)

    def send(self, request: Message, version: int, *, timeout_ms: int) -> asyncio.Future[Any]:
        """Returns a future of the response. Raises NotSentError at once if the channel is
        closed."""
        correlation_id, parts = self._encoded(request, version)
        key = request.api_key
        assert key is not None
        assert self._connection is not None
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        timer = self._clock.call_later(
            timeout_ms / 1_000, lambda: self._time_is_up(correlation_id, timeout_ms)
        )
        name = type(request).__name__
        self._outstanding[correlation_id] = _Outstanding(name, key, version, answer, timer)
        self._connection.write(parts)
        return answer

    def post(self, request: Message, version: int) -> None:
        """Sends a request that the node does not answer: Produce with acks=0. Raises NotSentError
        at once if the channel is closed."""
        _, parts = self._encoded(request, version)
        assert self._connection is not None
        self._connection.write(parts)

    def close(self) -> None:
        """Closes the connection. Outstanding requests fail with a ChannelError."""
        self._end("this node closed it")

    # ---- callbacks of the network

    def connected(self, connection: Connection) -> None:
        self._connection = connection
        self.is_open = True

    def get_buffer(self, size_hint: int) -> memoryview:  # noqa: ARG002 - the seam's signature
        return self._frames.get_buffer()

    def buffer_filled(self, length: int) -> None:
        self._frames.buffer_filled(length)
        try:
            while (frame := self._frames.next_frame()) is not None:
                self._answered(frame)
        except ProtocolError as error:
            self._end(f"it sent bytes that are not Kafka's protocol: {error}")

    def pause_writing(self) -> None:
        """No flow control is needed: requests are small and few, and their senders wait for
        responses."""

    def resume_writing(self) -> None: ...

    def closed(self, error: Exception | None) -> None:
        self.is_open = False
        if self._is_established and isinstance(error, TlsHandshakeError):
            self._security.on_outcome(self.address, error)
        self._frames.release()
        explanation = self._explanation(error)
        outstanding, self._outstanding = self._outstanding, {}
        for each in outstanding.values():
            each.timer.cancel()
            if not each.answer.done():
                failure = ChannelError(f"{each.name} was not answered: {explanation}")
                failure.__cause__ = error
                each.answer.set_exception(failure)
        self._maybe_answered_all()
        self._on_closed(self)

    # ----

    def _encoded(self, request: Message, version: int) -> tuple[int, list[Buffer]]:
        name = type(request).__name__
        if self._connection is None or not self.is_open:
            raise NotSentError(f"cannot send {name}: {self._explanation(None)}")
        assert request.api_key is not None, f"{name} is not a request"
        correlation_id = self._correlation_id
        self._correlation_id = (correlation_id + 1) % _CORRELATION_IDS
        parts = encode_request(
            request, version, correlation_id=correlation_id, client_id=self._client_id
        )
        return correlation_id, parts

    def _answered(self, frame: memoryview) -> None:
        if len(frame) < _CORRELATION.size:
            raise ProtocolError(f"a response of {len(frame)} bytes has no header")
        (correlation_id,) = _CORRELATION.unpack_from(frame)
        sent = self._outstanding.get(correlation_id)
        if sent is None:
            raise ProtocolError(f"a response to request {correlation_id}, which is not outstanding")
        _, response = decode_response(frame, sent.key, sent.version)
        del self._outstanding[correlation_id]
        sent.timer.cancel()
        if self._is_established and not self.is_accepted:
            self._accept()
        # The sender may have been cancelled.
        if not sent.answer.done():
            sent.answer.set_result(response)
        self._maybe_answered_all()

    def _accept(self) -> None:
        self.is_accepted = True
        self._security.on_outcome(self.address, None)

    def _maybe_answered_all(self) -> None:
        waiting = self._answered_all
        if waiting is not None and not self._outstanding:
            self._answered_all = None
            if not waiting.done():
                waiting.set_result(None)

    def _time_is_up(self, correlation_id: int, timeout_ms: int) -> None:
        sent = self._outstanding.pop(correlation_id)
        reason = f"{sent.name} was not answered within {timeout_ms} ms"
        if not sent.answer.done():
            sent.answer.set_exception(RequestTimedOutError(f"{self.address}: {reason}"))
        self._end(reason)

    def _end(self, reason: str) -> None:
        self.is_open = False
        if self._reason is None:
            self._reason = reason
        if self._connection is not None:
            self._connection.abort()

    def _explanation(self, error: Exception | None) -> str:
        why = self._reason or (str(error) if error is not None else "the node closed it")
        return f"the connection to {self.address} is closed, because {why}"


def seconds_to_reauthentication(lifetime: float) -> float:
    """After which part of a session's lifetime to authenticate again."""
    margin = min(max(lifetime * 0.2, _TAKING_UP_SECONDS), lifetime * 0.5)
    return max(lifetime - margin, min(_INTERVAL_SECONDS, lifetime * 0.8))
