"""ListGroups, versions 0 to 5: lists the groups whose coordinator is this node.

Groups that the client may not describe are left out. Version 4 adds a filter by state, version 5 by
type. Errors: COORDINATOR_LOAD_IN_PROGRESS while any of the partitions is being loaded,
COORDINATOR_NOT_AVAILABLE.
"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.fan_out import list_all
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.coordinator.groups.coordinator import GroupCoordinator
from ottla.coordinator.runtime.outcome import Outcome
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from ottla.wire.schema import Message


@handles(
    ApiKey.LIST_GROUPS,
    rights=(
        Right(AclOperation.DESCRIBE, ResourceType.GROUP),
        Right(AclOperation.DESCRIBE, ResourceType.CLUSTER),
    ),
)
def list_groups(
    context: RequestContext,
    request: ListGroupsRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    def listing(groups: GroupCoordinator) -> Outcome:
        found = groups.list_groups(states=request.states_filter, types=request.types_filter)
        return Outcome(response=ListGroupsResponse(groups=found))

    return list_all(
        groups,
        listing,
        ListGroupsResponse,
        lambda found: _visible(context.rights, _combine(found)),
    )


def _visible(rights: Rights, response: ListGroupsResponse) -> ListGroupsResponse:
    """Leaves out the groups that the client may not describe."""
    if rights.is_unrestricted or rights.allowed(
        AclOperation.DESCRIBE, ResourceType.CLUSTER, (CLUSTER_NAME,), is_audited=False
    ):
        return response
    listed = [group.group_id for group in response.groups]
    visible = rights.allowed(AclOperation.DESCRIBE, ResourceType.GROUP, listed, is_audited=False)
    response.groups = [group for group in response.groups if group.group_id in visible]
    return response


def _combine(found: Sequence[ListGroupsResponse]) -> ListGroupsResponse:
    return ListGroupsResponse(groups=[group for response in found for group in response.groups])
