"""DeleteGroups, versions 0 to 2: deletes groups without members, and their offsets.

Errors per group: GROUP_AUTHORIZATION_FAILED, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, and those of the
coordinator itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.gathered import Gathered
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


@handles(ApiKey.DELETE_GROUPS, rights=(Right(AclOperation.DELETE, ResourceType.GROUP),))
def delete_groups(
    context: RequestContext,
    request: DeleteGroupsRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    names = list(dict.fromkeys(request.groups_names))
    gathered = Gathered(len(names), lambda found: DeleteGroupsResponse(results=list(found)))
    for index, group_id in enumerate(names):
        _delete(groups, context.rights, group_id, gathered, index)
    return gathered.pending.answer


def _delete(
    groups: CoordinatorShards[GroupCoordinator],
    rights: Rights,
    group_id: str,
    gathered: Gathered,
    index: int,
) -> None:
    def refuse(error: KafkaError) -> DeletableGroupResult:
        return DeletableGroupResult(group_id=group_id, error_code=error.code)

    reply = gathered.reply(index)
    try:
        rights.require(AclOperation.DELETE, ResourceType.GROUP, group_id)
    except KafkaError as error:
        reply(refuse(error))
        return
    groups.submit(group_id, lambda groups: groups.delete_group(group_id), reply, refuse)
