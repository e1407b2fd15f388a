"""Bugs in groups and their offsets, within transactions and outside, planted one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from ottla.assignors import ASSIGNORS, Assignor
from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.consumer import advancing
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.groups.consumer.reconciliation import reconcile
from ottla.coordinator.offsets.fetching import OffsetFetch
from ottla.coordinator.offsets.offsets import Offsets
from ottla.coordinator.runtime.shard import Shard
from ottla.model import TopicPartition
from ottla.simulation.claims.group_claims import (
    EverythingIsConsumed,
    NoCommitLost,
    OneOwnerPerEpoch,
)
from ottla.simulation.claims.transaction_claims import (
    EachInputIsCopiedOnce,
    NoOffsetOfATransactionLost,
    OffsetsAgreeWithOutput,
)
from tests.support.mutants.planting import Mutant, answers_early, around, copying

# ---- offsets in transactions


def _puts_at_once(original: Any) -> Any:
    """An offset counts before its transaction is committed."""

    def put(self: Any, group: str, name: TopicPartition, committed: Any, **_: Any) -> None:
        original(self, group, name, committed)

    return put


def _puts_one_more(original: Any) -> Any:
    """An offset is taken for that of the last record which was read."""

    def put(self: Any, group: str, name: TopicPartition, committed: Any, **named: Any) -> None:
        original(self, group, name, committed._replace(offset=committed.offset + 1), **named)

    return put


def _commits_aborted(original: Any) -> Any:
    def end_transaction(self: Any, producer_id: int, *, is_committed: bool) -> None:
        del is_committed
        original(self, producer_id, is_committed=True)

    return end_transaction


def _returns_unstable(original: Any) -> Any:
    """A request for stable offsets returns those that a transaction is about to replace."""

    def init(self: Any, *arguments: Any, **_: Any) -> None:
        original(self, *arguments, require_stable=False)

    return init


def _answers_offsets_early(original: Any) -> Any:
    """Offsets of a transaction are acknowledged before anybody else has them."""

    def submit(self: Any, *arguments: Any, **named: Any) -> None:
        if named.get("writer") is None:
            original(self, *arguments, **named)
            return
        with patch.object(Shard, "_when_committed", answers_early):
            original(self, *arguments, **named)

    return submit


# ---- groups


@contextmanager
def _takes_any_commit() -> Iterator[None]:
    """Former members may commit."""
    with ExitStack() as stack:
        for kind in (ClassicGroup, ConsumerGroup):
            stack.enter_context(patch.object(kind, "require_may_commit", lambda *_, **__: None))
        yield


@contextmanager
def _assigns_twice() -> Iterator[None]:
    """Every member gets one partition, even if another member has it."""

    def gives(assign: Assignor) -> Assignor:
        def assign_twice(members: Any, partition_counts: Any) -> Any:
            given = yield from assign(members, partition_counts)
            shared = frozenset(sorted(frozenset().union(*given.values()))[:1])
            return {member_id: mine | shared for member_id, mine in given.items()}

        return assign_twice

    def reconcile_anyhow(member: Any, **named: Any) -> Any:
        return reconcile(member, **named | {"is_free": lambda _partition: True})

    with (
        patch.dict(ASSIGNORS, {name: gives(assign) for name, assign in ASSIGNORS.items()}),
        patch.object(advancing, "reconcile", reconcile_anyhow),
    ):
        yield


OFFSET_MUTANTS = (
    copying(
        "reports a transaction's offsets before they are committed",
        around(Shard, "submit", _answers_offsets_early),
        1,
        NoOffsetOfATransactionLost,
        seeks=("end_ahead",),
    ),
    copying(
        "commits offsets outside", around(Offsets, "put", _puts_at_once), 1, EachInputIsCopiedOnce
    ),
    copying(
        "commits offsets anyhow",
        around(Offsets, "end_transaction", _commits_aborted),
        1,
        EachInputIsCopiedOnce,
    ),
    copying(
        "returns offsets that are not stable",
        around(OffsetFetch, "__init__", _returns_unstable),
        2,
        NoCommitLost,
        # So that markers come late.
        seeks=("slow_link", "cut_one_way"),
    ),
    copying(
        "adds one to a transaction's offsets",
        around(Offsets, "put", _puts_one_more),
        1,
        OffsetsAgreeWithOutput,
    ),
    Mutant(
        "adds one to what a group commits",
        around(Offsets, "put", _puts_one_more),
        1,
        EverythingIsConsumed,
        seeks=("pause_member", "kill"),
        seconds_max=9,
        members=3,
        classic_members=3,
    ),
    Mutant(
        "assigns a partition twice",
        _assigns_twice,
        1,
        OneOwnerPerEpoch,
        seeks=("pause_member",),
        members=3,
    ),
    Mutant(
        "takes the commit of a fenced member",
        _takes_any_commit,
        13,
        NoCommitLost,
        seeks=("pause_member", "pause"),
        seconds_max=9,
        members=3,
        classic_members=3,
    ),
)
