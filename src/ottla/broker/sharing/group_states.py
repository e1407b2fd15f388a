"""What a group request changes at the share coordinators, and then in the group coordinator.

Both are other nodes in general. The group coordinator has recorded what is going to happen
(coordinator/groups/share/state_changes.py) before a function here is called.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.model import ErrorCode, KafkaError, Uuid
from ottla.shares.share_key import ShareKey

if TYPE_CHECKING:
    from ottla.broker.coordinators.share_states import ShareStates
    from ottla.coordinator.groups.coordinator import GroupCoordinator
    from ottla.coordinator.groups.share.state_partitions import Topics
    from ottla.coordinator.runtime.shard import Operation

T = TypeVar("T")
# The errors of partitions that failed.
StateErrors = dict[tuple[Uuid, int], KafkaError]


class _Refused(NamedTuple):
    error: KafkaError


async def ask_group(
    groups: CoordinatorShards[GroupCoordinator],
    group_id: str,
    operation: Operation[GroupCoordinator],
) -> Any:
    """Runs an operation on the group's coordinator and returns its response. Raises its
    `KafkaError`."""
    answer = await collect([lambda reply: groups.submit(group_id, operation, reply, _Refused)])
    if isinstance(answer[0], _Refused):
        raise answer[0].error
    return answer[0]


async def collect(calls: Sequence[Callable[[Callable[[T], None]], None]]) -> list[T]:
    """Makes all calls, each with a callback for its result, and waits for all results."""
    results: list[Any] = [None] * len(calls)
    missing = len(calls)
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def callback_of(index: int) -> Callable[[T], None]:
        def called_back(result: T) -> None:
            nonlocal missing
            results[index] = result
            missing -= 1
            if not missing and not done.done():
                done.set_result(None)

        return called_back

    for index, call in enumerate(calls):
        call(callback_of(index))
    if missing:
        await done
    return results


async def initialize_states(
    groups: CoordinatorShards[GroupCoordinator],
    states: ShareStates,
    group_id: str,
    topics: Topics,
    start_offsets: Mapping[tuple[Uuid, int], int],
    *,
    state_epoch: int,
) -> StateErrors:
    """Creates or replaces the state of partitions, and records the result in the group."""
    from ottla.coordinator.groups.share.state_partitions import StateTopic

    keys = [
        ShareKey(group_id, topic_id, number)
        for topic_id, topic in topics.items()
        for number in sorted(topic.partitions)
    ]

    def call_of(key: ShareKey) -> Callable[[Callable[[Any], None]], None]:
        start_offset = start_offsets.get((key.topic_id, key.partition), -1)
        return lambda callback: states.initialize(
            key, state_epoch=state_epoch, start_offset=start_offset, callback=callback
        )

    errors = _errors(keys, await collect([call_of(key) for key in keys]))
    for was_successful in (True, False):
        settled = {
            topic_id: StateTopic(
                topic.name,
                frozenset(
                    number
                    for number in topic.partitions
                    if ((topic_id, number) not in errors) is was_successful
                ),
            )
            for topic_id, topic in topics.items()
        }
        settled = {topic_id: topic for topic_id, topic in settled.items() if topic.partitions}
        if settled:
            await ask_group(groups, group_id, _settling(group_id, settled, was_successful))
    return errors


def _settling(group_id: str, topics: Topics, was_successful: bool) -> Operation[GroupCoordinator]:
    if was_successful:
        return lambda machine: machine.share_states.initialized(group_id, topics)
    return lambda machine: machine.share_states.not_initialized(group_id, topics)


async def delete_states(
    groups: CoordinatorShards[GroupCoordinator],
    states: ShareStates,
    group_id: str,
    topics: Topics,
) -> StateErrors:
    """Deletes the state of partitions, and records the topics without an error in the group."""
    keys = [
        ShareKey(group_id, topic_id, number)
        for topic_id, topic in topics.items()
        for number in sorted(topic.partitions)
    ]

    def call_of(key: ShareKey) -> Callable[[Callable[[Any], None]], None]:
        return lambda callback: states.delete(key, callback)

    errors = _errors(keys, await collect([call_of(key) for key in keys]))
    failed = {topic_id for topic_id, _ in errors}
    done = [topic_id for topic_id in topics if topic_id not in failed]
    if done:
        await ask_group(
            groups, group_id, lambda machine: machine.share_states.deleted(group_id, done)
        )
    return errors


def _errors(keys: Sequence[ShareKey], results: Sequence[Any]) -> StateErrors:
    return {
        (key.topic_id, key.partition): KafkaError(
            ErrorCode(result.error_code), result.error_message or ""
        )
        for key, result in zip(keys, results, strict=True)
        if result.error_code
    }
