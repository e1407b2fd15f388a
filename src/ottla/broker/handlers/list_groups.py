"""ListGroups, versions 0 to 5: lists the groups whose coordinator is this node.

Version 4 adds a filter by state, version 5 by type. Errors: COORDINATOR_LOAD_IN_PROGRESS while any
of the partitions is being loaded, COORDINATOR_NOT_AVAILABLE.
"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.fan_out import list_all
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.coordinator.groups.coordinator import GroupCoordinator
from ottla.coordinator.runtime.outcome import Outcome
from ottla.wire.apis import ApiKey
from ottla.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from ottla.wire.schema import Message


@handles(ApiKey.LIST_GROUPS)
def list_groups(
    context: RequestContext,  # noqa: ARG001 - every handler's signature
    request: ListGroupsRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    def listing(groups: GroupCoordinator) -> Outcome:
        found = groups.list_groups(states=request.states_filter, types=request.types_filter)
        return Outcome(response=ListGroupsResponse(groups=found))

    return list_all(groups, listing, ListGroupsResponse, _combine)


def _combine(found: Sequence[ListGroupsResponse]) -> ListGroupsResponse:
    return ListGroupsResponse(groups=[group for response in found for group in response.groups])
