"""DeleteGroups, versions 0 to 2: deletes groups without members, and their offsets.

Errors per group: GROUP_AUTHORIZATION_FAILED, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, and those of the
coordinator itself.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.fan_out import run_for_each
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.model import KafkaError
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
    from ottla.coordinator.groups.coordinator import GroupCoordinator


@handles(ApiKey.DELETE_GROUPS, rights=(Right(AclOperation.DELETE, ResourceType.GROUP),))
def delete_groups(
    context: RequestContext,
    request: DeleteGroupsRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    def refuse(group_id: str, error: KafkaError) -> DeletableGroupResult:
        return DeletableGroupResult(group_id=group_id, error_code=error.code)

    return run_for_each(
        groups,
        list(dict.fromkeys(request.groups_names)),
        lambda group_id, groups: groups.delete_group(group_id),
        refuse,
        lambda found: DeleteGroupsResponse(results=list(found)),
        check=partial(context.rights.require, AclOperation.DELETE, ResourceType.GROUP),
    )
