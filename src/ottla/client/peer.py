"""Another node, connected to when something is to be sent to it, and again after it was lost.

Attempts that follow each other closely are spread by a backoff that doubles from one failure to the
next, with jitter, so that a node that comes back is not met by everybody at once. A connection that
was up for longer than the backoff is made again at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ottla.client.channel import Channel
from ottla.client.errors import ChannelError
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.network import Address, Network
from ottla.runtime.tasks import Tasks
from ottla.wire.schema import Message

_JITTER: Final = 0.2
_DOUBLINGS_MAX: Final = 16


class ReconnectBackoff(NamedTuple):
    """How long an attempt to connect may take, and how long after one the next may begin."""

    first_ms: int = 50
    max_ms: int = 1_000
    connect_timeout_ms: int = 10_000

    def after(self, failures: int, dice: Dice) -> float:
        """Seconds from the beginning of an attempt, the last of so many failures in a row."""
        doublings = min(max(failures - 1, 0), _DOUBLINGS_MAX)
        return dice.jitter(min(self.first_ms << doublings, self.max_ms), fraction=_JITTER) / 1_000


DEFAULT_BACKOFF: Final = ReconnectBackoff()


class Peer:
    """Lives as long as somebody may want to talk to the node; ended by `close`.

    `locate` is asked for the node's address before each request, as nodes move; None means that
    nobody knows it yet. `on_lost` is called whenever a connection that was up has ended, whichever
    side ended it; not after `close`.
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
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._locate = locate
        self._network = network
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self._client_id = client_id
        self._backoff = backoff
        self._on_lost = on_lost
        self._channel: Channel | None = None
        # Whoever sends meanwhile shares the attempt, and its failure.
        self._attempt: asyncio.Future[Channel | ChannelError] | None = None
        self._failures = 0
        self._next_attempt = clock.monotonic()
        self._is_closed = False

    @property
    def is_connected(self) -> bool:
        return self._channel is not None

    async def send(self, request: Message, version: int, *, timeout_ms: int) -> Any:
        """The response. Raises ChannelError if the node cannot be connected to or does not answer.

        The timeout counts from when the request is sent. On a connection that is up it is sent
        before this first waits, so requests keep the order of the calls.
        """
        channel = self._channel
        if channel is not None and self._locate() not in (None, channel.address):
            # It has moved, or somebody else is meant by now.
            self._channel = None
            channel.close()
            channel = None
        if channel is None:
            channel = await self._connected()
        return await channel.send(request, version, timeout_ms=timeout_ms)

    def close(self) -> None:
        """Ends the connection; nothing can be sent any more."""
        self._is_closed = True
        if self._channel is not None:
            self._channel.close()

    async def _connected(self) -> Channel:
        if self._is_closed:
            raise ChannelError("nothing can be sent to a peer that was closed")
        if self._attempt is None:
            self._attempt = asyncio.get_running_loop().create_future()
            self._tasks.start("connect", self._connect(self._attempt))
        # Who gives up waiting must not take the others with it.
        found = await asyncio.shield(self._attempt)
        if isinstance(found, ChannelError):
            # One that is raised twice would tell of both places.
            raise ChannelError(str(found))
        return found

    async def _connect(self, attempt: asyncio.Future[Channel | ChannelError]) -> None:
        found: Channel | ChannelError = ChannelError("nothing is connected to any more")
        try:
            await self._wait_backoff()
            started = self._clock.monotonic()
            try:
                found = await self._open()
            except ChannelError as error:
                found = error
                self._failures += 1
            else:
                self._failures = 0
                self._take(found)
            self._next_attempt = started + self._backoff.after(self._failures, self._dice)
        finally:
            self._attempt = None
            attempt.set_result(found)

    async def _open(self) -> Channel:
        address = self._locate()
        if address is None:
            raise ChannelError("cannot connect: the node's address is not known yet")
        return await Channel.connect(
            self._network,
            self._clock,
            address,
            client_id=self._client_id,
            timeout_ms=self._backoff.connect_timeout_ms,
            on_closed=self._lost,
        )

    async def _wait_backoff(self) -> None:
        remaining = self._next_attempt - self._clock.monotonic()
        if remaining > 0:
            await self._clock.sleep(remaining)

    def _take(self, channel: Channel) -> None:
        if self._is_closed:
            channel.close()
        elif channel.is_open:
            self._channel = channel

    def _lost(self, channel: Channel) -> None:
        if self._channel is channel:
            self._channel = None
            if not self._is_closed:
                self._on_lost()
