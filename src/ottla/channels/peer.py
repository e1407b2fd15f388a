"""Another node: connects on the first request, and again after the connection was lost.

A session that ends at some time is authenticated again before, on the same connection (KIP-368):
requests that are sent meanwhile wait.

Failed attempts are followed by a backoff that doubles with each failure, with jitter, so that not
all nodes reconnect at the same time to a node that has restarted. After a connection that was up
for longer than the backoff, the next attempt starts at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from ottla.channels.authentication import AuthenticationFailedError
from ottla.channels.channel import Channel
from ottla.channels.channel_security import PLAINTEXT, ChannelSecurity
from ottla.channels.errors import ChannelError, NotSentError
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.network import Address, Network
from ottla.runtime.tasks import Tasks
from ottla.runtime.tls.errors import TlsHandshakeError
from ottla.wire.schema import Message

_log = logging.getLogger(__name__)

_JITTER: Final = 0.2
_DOUBLINGS_MAX: Final = 16
# An operator has to correct credentials or certificates first.
_REFUSED_MS: Final = 1_000


class ReconnectBackoff(NamedTuple):
    """The connect timeout, and the minimum time between the starts of two attempts."""

    first_ms: int = 50
    max_ms: int = 1_000
    connect_timeout_ms: int = 10_000

    def after(self, failures: int, dice: Dice) -> float:
        """Seconds from the start of the last attempt to the next one, after this many failures in a
        row."""
        doublings = min(max(failures - 1, 0), _DOUBLINGS_MAX)
        return dice.jitter(min(self.first_ms << doublings, self.max_ms), fraction=_JITTER) / 1_000


DEFAULT_BACKOFF: Final = ReconnectBackoff()


class Peer:
    """Lives as long as requests may be sent to the node; ended by `close`.

    `locate` returns the current address of the node and is called before each request; None means
    that the address is unknown. `greet` talks to the node on each new connection before anything
    else is sent; if it raises ChannelError, the attempt to connect has failed. `on_lost` is called
    whenever an established connection closes, by either side, but not after `close`.
    """

    def __init__(
        self,
        network: Network,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
        locate: Callable[[], Address | None],
        *,
        client_id: str,
        backoff: ReconnectBackoff = DEFAULT_BACKOFF,
        greet: Callable[[Channel], Awaitable[None]] | None = None,
        on_lost: Callable[[], None] = lambda: None,
        security: ChannelSecurity = PLAINTEXT,
    ) -> None:
        self._locate = locate
        self._network = network
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self._client_id = client_id
        self._backoff = backoff
        self._greet = greet
        self._on_lost = on_lost
        self._security = security
        self._channel: Channel | None = None
        # The attempt in progress to connect, or to authenticate again. All waiting senders share it
        # and its error.
        self._attempt: asyncio.Future[Channel | ChannelError] | None = None
        self._failures = 0
        self._next_attempt = clock.monotonic()
        self._is_closed = False

    @property
    def is_connected(self) -> bool:
        return self._channel is not None

    async def send(self, request: Message, version: int, *, timeout_ms: int) -> Any:
        """Returns the response. Raises NotSentError if the node is unreachable, and another
        ChannelError if it does not respond.

        The timeout starts when the request is sent. On an established connection the request is
        sent before this method first awaits, so requests keep the order of the calls.
        """
        channel = self.connected_channel()
        if channel is None:
            channel = await self.channel()
        return await channel.send(request, version, timeout_ms=timeout_ms)

    async def channel(self) -> Channel:
        """Connects if necessary. Send on the channel before the next await: a session that has
        become old sends nothing more. Raises NotSentError."""
        channel = self.connected_channel()
        # Again if the session has become old while this sender waited.
        while channel is None or channel.should_reauthenticate:
            channel = await self._connected()
        return channel

    def connected_channel(self) -> Channel | None:
        """The channel on which a request can be sent at once."""
        channel = self._channel
        if channel is not None and self._locate() not in (None, channel.address):
            # The address has changed, or it is now that of another node.
            self._channel = None
            channel.close()
            return None
        if channel is not None and channel.should_reauthenticate:
            return None
        return channel

    def close(self) -> None:
        """Closes the connection; nothing can be sent any more."""
        self._is_closed = True
        if self._channel is not None:
            self._channel.close()

    async def _connected(self) -> Channel:
        if self._is_closed:
            raise NotSentError("cannot send a request: the peer was closed")
        if self._attempt is None:
            self._attempt = asyncio.get_running_loop().create_future()
            self._tasks.start("connect", self._connect(self._attempt))
        # Cancelling one sender must not cancel the attempt that the others wait for.
        found = await asyncio.shield(self._attempt)
        if isinstance(found, ChannelError):
            # A new error for each sender: a shared one would collect the tracebacks of all of them.
            raise NotSentError(str(found)) from found
        return found

    async def _connect(self, attempt: asyncio.Future[Channel | ChannelError]) -> None:
        found: Channel | ChannelError = ChannelError("cannot connect: the node is stopping")
        try:
            if self._channel is not None and await self._reauthenticated(self._channel):
                found = self._channel
                return
            await self._wait_backoff()
            started = self._clock.monotonic()
            try:
                found = await self._open()
            except ChannelError as error:
                found = error
                self._failed(started, is_refused=_is_refusal(error))
            else:
                self._next_attempt = started + self._backoff.after(0, self._dice)
                self._take(found)
        finally:
            self._attempt = None
            attempt.set_result(found)

    async def _reauthenticated(self, channel: Channel) -> bool:
        """Whether the channel can be used again. If not, it is closed, and a new one may work."""
        try:
            await channel.reauthenticate(timeout_ms=self._backoff.connect_timeout_ms)
        except ChannelError as error:
            _log.debug("connecting again to %s: %s", channel.address, error)
            if self._channel is channel:
                self._channel = None
            channel.close()
        return self._channel is channel

    async def _open(self) -> Channel:
        address = self._locate()
        if address is None:
            raise ChannelError("cannot connect: the node's address is not known yet")
        channel = await Channel.connect(
            self._network,
            self._clock,
            address,
            client_id=self._client_id,
            timeout_ms=self._backoff.connect_timeout_ms,
            on_closed=self._lost,
            security=self._security,
        )
        if self._greet is not None:
            try:
                await self._greet(channel)
            except BaseException:
                channel.close()
                raise
        return channel

    async def _wait_backoff(self) -> None:
        remaining = self._next_attempt - self._clock.monotonic()
        if remaining > 0:
            await self._clock.sleep(remaining)

    def _failed(self, started: float, *, is_refused: bool) -> None:
        self._failures += 1
        seconds = self._backoff.after(self._failures, self._dice)
        if is_refused:
            seconds = max(seconds, self._dice.jitter(_REFUSED_MS, fraction=_JITTER) / 1_000)
        self._next_attempt = started + seconds

    def _take(self, channel: Channel) -> None:
        if self._is_closed:
            channel.close()
        elif channel.is_open:
            self._channel = channel

    def _lost(self, channel: Channel) -> None:
        if self._channel is channel:
            self._channel = None
            if channel.is_accepted:
                self._failures = 0
            else:
                self._failed(self._clock.monotonic(), is_refused=self._security.tls is not None)
            if not self._is_closed:
                self._on_lost()


def _is_refusal(error: ChannelError) -> bool:
    """Whether one of the two sides refused the other, rather than being unreachable."""
    return isinstance(error, AuthenticationFailedError) or isinstance(
        error.__cause__, TlsHandshakeError
    )
