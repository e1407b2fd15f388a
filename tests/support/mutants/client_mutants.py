"""Bugs in the public consumer, planted one at a time: what it promises, the simulation claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from ottla.client.consuming.consumer import Consumer
from ottla.client.consuming.record_queue import RecordQueue
from ottla.client.groups.offsets import OffsetsOfGroup
from ottla.model import TopicPartition
from ottla.simulation.claims.claims import ReadsArePrefix
from ottla.simulation.claims.group_claims import (
    EverythingIsConsumed,
    NoCommitLost,
)
from tests.support.mutants.planting import Mutant, around

_MEMBERS: dict[str, Any] = {"members": 2, "classic_members": 2}


def _skips_what_follows(original: Any) -> Any:
    """The position after a batch is taken for that after the response."""

    def take_chunk(self: RecordQueue, count_max: int) -> Any:
        taken = original(self, count_max)
        if taken and len(self._responses) > 1:
            self._responses.popleft()[0].close()
        return taken

    return take_chunk


def _hands_out_twice(original: Any) -> Any:
    """The last record of a chunk is the first one of the next as well."""

    def take_chunk(self: RecordQueue, count_max: int) -> Any:
        taken = original(self, count_max)
        if len(taken) > 1:
            self.take_back(1)
        return taken

    return take_chunk


def _hands_out_backwards(original: Any) -> Any:
    def take(self: RecordQueue, count_max: int) -> Any:
        return original(self, count_max)[::-1]

    return take


def _commits_ahead(original: Any) -> Any:
    """Commits the offset after the next record, which nobody has got yet."""

    async def commit(self: Consumer, offsets: Mapping[Any, Any], **named: Any) -> None:
        ahead = {
            name: position._replace(offset=position.offset + 1)
            for name, position in offsets.items()
        }
        await original(self, ahead, **named)

    return commit


@contextmanager
def _repeats_commits_of_others() -> Iterator[None]:
    """A commit is sent once more, some time later, with whatever epoch the member has then."""
    original = OffsetsOfGroup.commit

    async def commit(
        self: OffsetsOfGroup, offsets: Mapping[TopicPartition, Any], *, deadline: float
    ) -> None:
        kept = dict(offsets)
        await original(self, offsets, deadline=deadline)
        cluster = self._cluster

        async def again() -> None:
            await cluster.clock.sleep(3)
            await self._commit(kept, {name: self._owner(name) for name in kept})

        if kept and cluster.dice.chance(0.3):
            cluster.tasks.start("again", again())

    with ExitStack() as stack:
        stack.enter_context(patch.object(OffsetsOfGroup, "commit", commit))
        # Such a task may fail, as the bug's would.
        stack.enter_context(
            patch("ottla.client.cluster.client_cluster._task_failed", lambda _name, _error: None)
        )
        yield


CLIENT_MUTANTS = (
    Mutant(
        "consumer skips records",
        around(RecordQueue, "take_chunk", _skips_what_follows),
        1,
        ReadsArePrefix,
        seeks=("pause_member", "slow_link"),
        **_MEMBERS,
    ),
    Mutant(
        "consumer hands out records twice",
        around(RecordQueue, "take_chunk", _hands_out_twice),
        1,
        ReadsArePrefix,
        seeks=("pause_member", "slow_link"),
        **_MEMBERS,
    ),
    Mutant(
        "consumer hands out records in another order",
        around(RecordQueue, "take", _hands_out_backwards),
        1,
        ReadsArePrefix,
        seeks=("pause_member",),
        **_MEMBERS,
    ),
    Mutant(
        "consumer commits more than it has handed out",
        around(Consumer, "commit", _commits_ahead),
        1,
        EverythingIsConsumed,
        seeks=("pause_member", "kill", "stop"),
        seconds_max=9,
        **_MEMBERS,
    ),
    Mutant(
        "consumer repeats old commits",
        _repeats_commits_of_others,
        1,
        NoCommitLost,
        seeks=("pause_member", "pause"),
        seconds_max=9,
        **_MEMBERS,
    ),
)
