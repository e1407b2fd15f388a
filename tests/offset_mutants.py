"""Bugs in the offsets of groups, within transactions and outside, planted one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.offsets.fetching import OffsetFetch
from ottla.coordinator.offsets.offsets import Offsets
from ottla.coordinator.runtime.shard import Shard
from ottla.model import TopicPartition
from tests.planting import Mutant, answers_early, around, copying

# ---- offsets in transactions


def _puts_at_once(original: Any) -> Any:
    """An offset counts before its transaction is committed."""

    def put(self: Any, group: str, name: TopicPartition, committed: Any, **_: Any) -> None:
        original(self, group, name, committed)

    return put


def _commits_aborted(original: Any) -> Any:
    def end_transaction(self: Any, producer_id: int, *, is_committed: bool) -> None:
        del is_committed
        original(self, producer_id, is_committed=True)

    return end_transaction


def _tells_unstable(original: Any) -> Any:
    """Whoever asks for stable offsets is told of those that a transaction is about to replace."""

    def init(self: Any, *arguments: Any, **_: Any) -> None:
        original(self, *arguments, require_stable=False)

    return init


def _answers_offsets_early(original: Any) -> Any:
    """Offsets of a transaction are acknowledged before anybody else has them."""

    def submit(self: Any, *arguments: Any, writer: Any = None) -> None:
        if writer is None:
            original(self, *arguments)
            return
        with patch.object(Shard, "_when_committed", answers_early):
            original(self, *arguments, writer=writer)

    return submit


# ---- groups


@contextmanager
def _takes_any_commit() -> Iterator[None]:
    """Whoever was a member once may commit."""
    with ExitStack() as stack:
        for kind in (ClassicGroup, ConsumerGroup):
            stack.enter_context(patch.object(kind, "require_may_commit", lambda *_, **__: None))
        yield


OFFSET_MUTANTS = (
    copying(
        "tells of a transaction's offsets before they are committed",
        around(Shard, "submit", _answers_offsets_early),
        1,
        seeks=("end_ahead",),
    ),
    copying("commits offsets outside", around(Offsets, "put", _puts_at_once), 1),
    copying("commits offsets anyhow", around(Offsets, "end_transaction", _commits_aborted), 1),
    copying(
        "tells offsets that are not stable",
        around(OffsetFetch, "__init__", _tells_unstable),
        2,
        # So that markers come late.
        seeks=("slow_link", "cut_one_way"),
    ),
    Mutant(
        "takes the commit of a fenced member",
        _takes_any_commit,
        16,
        seeks=("pause_member", "pause"),
        seconds_max=9,
        members=3,
        classic_members=3,
    ),
)
