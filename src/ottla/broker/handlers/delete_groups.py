"""DeleteGroups, versions 0 to 2: deletes groups without members, and their offsets.

Of a share group, the state of its partitions is deleted first. Errors per group:
GROUP_AUTHORIZATION_FAILED, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, and those of the coordinators.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.gathered import Gathered
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.sharing.group_states import ask_group, delete_states
from ottla.coordinator.runtime.outcome import Outcome
from ottla.model import KafkaError
from ottla.runtime.tasks import Tasks
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.broker.coordinators.share_states import ShareStates
    from ottla.broker.sharing.sharing import Sharing
    from ottla.coordinator.groups.coordinator import GroupCoordinator
    from ottla.coordinator.groups.share.state_changes import DeletedStates


@handles(ApiKey.DELETE_GROUPS, rights=(Right(AclOperation.DELETE, ResourceType.GROUP),))
def delete_groups(
    context: RequestContext,
    request: DeleteGroupsRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
    sharing: Sharing,
    tasks: Tasks,
) -> Message | Pending:
    check = partial(context.rights.require, AclOperation.DELETE, ResourceType.GROUP)
    group_ids = list(dict.fromkeys(request.groups_names))
    gathered = Gathered(len(group_ids), lambda found: DeleteGroupsResponse(results=list(found)))
    for index, group_id in enumerate(group_ids):
        reply = gathered.reply(index)
        try:
            check(group_id)
        except KafkaError as error:
            reply(_refuse(group_id, error))
            continue
        groups.submit(
            group_id,
            partial(_delete, group_id),
            partial(_maybe_delete_states, groups, sharing.states, tasks, group_id, reply),
            partial(_refuse, group_id),
        )
    return gathered.pending.answer


def _delete(group_id: str, groups: GroupCoordinator) -> Outcome:
    """The response is a `DeletedStates` if the state of partitions has to be deleted first."""
    if groups.share_states.has_partitions(group_id):
        return groups.share_states.delete(group_id, None)
    return groups.delete_group(group_id)


def _maybe_delete_states(
    groups: CoordinatorShards[GroupCoordinator],
    states: ShareStates,
    tasks: Tasks,
    group_id: str,
    reply: Callable[[Any], None],
    found: Any,
) -> None:
    if isinstance(found, DeletableGroupResult):
        reply(found)
    else:
        work = _delete_states(groups, states, group_id, found, reply)
        tasks.start(f"delete share group {group_id}", work)


async def _delete_states(
    groups: CoordinatorShards[GroupCoordinator],
    states: ShareStates,
    group_id: str,
    deleted: DeletedStates,
    reply: Callable[[Any], None],
) -> None:
    try:
        errors = await delete_states(groups, states, group_id, deleted.topics)
        for error in errors.values():
            raise error
        result = await ask_group(groups, group_id, lambda machine: machine.delete_group(group_id))
    except KafkaError as error:
        result = _refuse(group_id, error)
    reply(result)


def _refuse(group_id: str, error: KafkaError) -> DeletableGroupResult:
    return DeletableGroupResult(group_id=group_id, error_code=error.code)
