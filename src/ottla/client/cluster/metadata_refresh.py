"""Keeps a client's metadata fresh: on request, and when it is old.

Concurrent requests share a round: the topics that are asked for while a request is in flight are
those of the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from ottla.channels import ChannelError
from ottla.client.cluster.metadata import NOTHING_KNOWN, ClusterMetadata, merged
from ottla.client.settings.common import ClusterSettings
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.clock import Clock, Timer
from ottla.runtime.tasks import Tasks
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from ottla.wire.schema import Message


class AnyNode(Protocol):
    """Sends a request to any node."""

    async def __call__(self, request: Message) -> Any: ...


class MetadataRefresh:
    """Owned by a `ClientCluster`. `on_change` is called after each response that changed
    something."""

    def __init__(
        self,
        settings: ClusterSettings,
        clock: Clock,
        tasks: Tasks,
        send: AnyNode,
        on_change: Callable[[], None],
    ) -> None:
        self.current: ClusterMetadata = NOTHING_KNOWN
        self._settings = settings
        self._clock = clock
        self._tasks = tasks
        self._send = send
        self._on_change = on_change
        self._watched: frozenset[str] = frozenset()
        # What the next round asks for; None stands for all topics.
        self._wanted: set[str] | None = set()
        self._next: asyncio.Future[KafkaError | ChannelError | None] | None = None
        self._is_running = False
        self._timer: Timer | None = None

    def watch(self, topics: Iterable[str]) -> None:
        self._watched = frozenset(topics)

    async def refresh(self, topics: Iterable[str] | None) -> ClusterMetadata:
        """Raises ChannelError or KafkaError if no node answers."""
        if topics is None:
            self._wanted = None
        elif self._wanted is not None:
            self._wanted.update(topics)
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
            if not self._is_running:
                self._is_running = True
                self._tasks.start("metadata", self._run())
        # Cancelling one caller must not cancel the round of the others.
        error = await asyncio.shield(self._next)
        if error is not None:
            # A new error for each caller: a shared one would collect all their tracebacks.
            raise _again(error)
        return self.current

    def replace(self, metadata: ClusterMetadata) -> None:
        if metadata is not self.current:
            self.current = metadata
            self._on_change()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    async def _run(self) -> None:
        try:
            while self._next is not None:
                waiting, self._next = self._next, None
                wanted, self._wanted = self._wanted, set()
                outcome: KafkaError | ChannelError | None = ChannelError("the client was closed")
                try:
                    await self._request(
                        None if wanted is None else frozenset(wanted | self._watched)
                    )
                    outcome = None
                except (ChannelError, KafkaError) as error:
                    outcome = error
                finally:
                    if not waiting.done():
                        waiting.set_result(outcome)
        finally:
            self._is_running = False
            if self._next is not None:
                self._next.set_result(ChannelError("the client was closed"))
                self._next = None
            self._refresh_later()

    async def _request(self, wanted: frozenset[str] | None) -> None:
        names = None if wanted is None else sorted(wanted)
        request = MetadataRequest(
            topics=None if names is None else [MetadataRequestTopic(name=name) for name in names],
            allow_auto_topic_creation=self._settings.creates_topics,
        )
        response: MetadataResponse = await self._send(request)
        if response.error_code == ErrorCode.REBOOTSTRAP_REQUIRED and self._settings.rebootstraps:
            self.replace(self.current.without_nodes())
            response = await self._send(request)
        if response.error_code:
            code = ErrorCode(response.error_code)
            raise KafkaError(code, "the node has no metadata")
        found = merged(self.current, response, wanted)
        if found != self.current:
            self.replace(found)

    def _refresh_later(self) -> None:
        self.close()
        if not self._tasks.is_closed:
            seconds = self._settings.metadata_max_age_ms / 1_000
            self._timer = self._clock.call_later(seconds, self._refresh_old)

    def _refresh_old(self) -> None:
        if not self._tasks.is_closed:
            self._tasks.start("old metadata", self._refresh_quietly())

    async def _refresh_quietly(self) -> None:
        try:
            await self.refresh(())
        except (ChannelError, KafkaError):
            # The next one may succeed. A caller of refresh gets the error.
            return


def _again(error: KafkaError | ChannelError) -> KafkaError | ChannelError:
    if isinstance(error, KafkaError):
        made: KafkaError | ChannelError = KafkaError(error.code, error.message)
    else:
        made = type(error)(str(error))
        made.__cause__ = error.__cause__
    return made
