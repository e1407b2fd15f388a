"""Connects to whichever of several nodes answers first.

A node that hangs accepts connections and says nothing: the next one is tried soon, and not only
after the time that a connection may take.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from ottla.channels import ChannelError
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks

# As in RFC 8305, for the addresses of one host.
STAGGER_SECONDS: Final = 0.25


async def connect_first(
    clock: Clock,
    tasks: Tasks,
    node_ids: Sequence[int],
    connect: Callable[[int], Awaitable[None]],
) -> None:
    """Returns when a node is connected, or when all attempts have failed. Attempts that go on
    belong to `tasks`."""
    ended = _Ended(len(node_ids))

    async def attempt(node_id: int) -> None:
        try:
            await connect(node_id)
        except ChannelError:
            ended.failed()
        else:
            ended.succeeded()

    for node_id in node_ids:
        ended.renew()
        tasks.start("first connection", attempt(node_id))
        timer = clock.call_later(STAGGER_SECONDS, ended.wake)
        await ended.wait()
        timer.cancel()
        if ended.is_decided:
            return
    while not ended.is_decided:
        ended.renew()
        await ended.wait()


class _Ended:
    """What has become of the attempts."""

    def __init__(self, left: int) -> None:
        self.is_decided = False
        self._left = left
        self._changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def succeeded(self) -> None:
        self.is_decided = True
        self.wake()

    def failed(self) -> None:
        self._left -= 1
        self.is_decided = self.is_decided or not self._left
        self.wake()

    def renew(self) -> None:
        self._changed = asyncio.get_running_loop().create_future()

    def wake(self) -> None:
        if not self._changed.done():
            self._changed.set_result(None)

    async def wait(self) -> None:
        await self._changed
