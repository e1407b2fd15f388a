"""Runs an operation on several shards of a coordinator, and combines their responses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.gathered import Gathered
from ottla.broker.network.pending import Pending
from ottla.model import ErrorCode, KafkaError
from ottla.wire.schema import Message, Struct

if TYPE_CHECKING:
    from ottla.coordinator.runtime.outcome import Outcome
    from ottla.coordinator.runtime.shard import Operation
    from ottla.coordinator.runtime.state_machine import StateMachine

M = TypeVar("M", bound="StateMachine")


def run_for_each(
    shards: CoordinatorShards[M],
    keys: Sequence[str],
    operation: Callable[[str, M], Outcome],
    refuse: Callable[[str, KafkaError], Struct],
    combine: Callable[[Sequence[Any]], Message],
    *,
    check: Callable[[str], None],
) -> Message | Pending:
    """Runs the operation for each key on its shard; `refuse` turns an error into its response.
    `check` raises `KafkaError` for a key that the client may not use."""
    gathered = Gathered(len(keys), combine)
    for index, key in enumerate(keys):
        reply = gathered.reply(index)
        try:
            check(key)
        except KafkaError as error:
            reply(refuse(key, error))
        else:
            shards.submit(key, partial(operation, key), reply, partial(refuse, key))
    return gathered.pending.answer


def list_all(
    shards: CoordinatorShards[M],
    operation: Operation[M],
    response: Callable[..., Message],
    combine: Callable[[Sequence[Any]], Message],
) -> Message | Pending:
    """Runs the operation on all shards. The combined `response`s, or the first with an error."""

    def refuse(error: KafkaError) -> Message:
        if error.code == ErrorCode.NOT_COORDINATOR:
            # Another node is now the coordinator of this partition and lists it.
            return response()
        return response(error_code=error.code)

    def first_refused_or_all(found: Sequence[Any]) -> Message:
        return next((each for each in found if each.error_code), None) or combine(found)

    here = shards.all
    gathered = Gathered(len(here), first_refused_or_all)
    for index, shard in enumerate(here):
        shard.submit(operation, gathered.reply(index), refuse)
    return gathered.pending.answer
