"""What an application wants to be called with when its partitions change."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from ottla.model import TopicPartition

# A function or a coroutine function; it may commit, seek and pause.
RebalanceCallback: TypeAlias = Callable[[frozenset[TopicPartition]], Awaitable[object] | object]


class RebalanceCallbacks(NamedTuple):
    """Each is called with the partitions that are added or given up, in the application's own calls
    of poll. Without `on_lost`, `on_revoked` is called with lost partitions as well."""

    on_assigned: RebalanceCallback | None = None
    on_revoked: RebalanceCallback | None = None
    on_lost: RebalanceCallback | None = None


async def call(callback: RebalanceCallback | None, partitions: frozenset[TopicPartition]) -> None:
    if callback is not None:
        result = callback(partitions)
        if inspect.isawaitable(result):
            await result
