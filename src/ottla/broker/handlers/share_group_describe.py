"""ShareGroupDescribe, version 1: describes share groups (KIP-932) and their members.

Errors per group: GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED for a member's topic,
INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, UNSUPPORTED_VERSION without the feature share.version, and
those of the coordinator itself. A group with an error is not described.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.administration.authorized_operations import authorized_operations
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.fan_out import run_for_each
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.sharing.offered import check_offered
from ottla.coordinator.runtime.outcome import Outcome
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


@handles(
    ApiKey.SHARE_GROUP_DESCRIBE,
    rights=(
        Right(AclOperation.DESCRIBE, ResourceType.GROUP),
        Right(AclOperation.DESCRIBE, ResourceType.TOPIC),
    ),
)
def share_group_describe(
    context: RequestContext,
    request: ShareGroupDescribeRequest,
    *,
    cluster: ClusterView,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    rights = context.rights

    def check(group_id: str) -> None:
        check_offered(cluster)
        rights.require(AclOperation.DESCRIBE, ResourceType.GROUP, group_id)

    def describe(group_id: str, groups: GroupCoordinator) -> Outcome:
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "a group's id cannot be empty")
        described = groups.describe_share(group_id)
        if not rights.is_unrestricted:
            _check_topics(rights, described)
        if request.include_authorized_operations and not described.error_code:
            described.authorized_operations = authorized_operations(
                rights, ResourceType.GROUP, group_id
            )
        return Outcome(response=described)

    def refuse(group_id: str, error: KafkaError) -> DescribedGroup:
        return DescribedGroup(error_code=error.code, error_message=error.message, group_id=group_id)

    return run_for_each(
        groups,
        request.group_ids,
        describe,
        refuse,
        lambda found: ShareGroupDescribeResponse(groups=list(found)),
        check=check,
    )


def _check_topics(rights: Rights, described: DescribedGroup) -> None:
    """Raises `KafkaError` if the members have a topic that the client may not describe."""
    for member in described.members:
        for topic in member.assignment.topic_partitions:
            rights.require(AclOperation.DESCRIBE, ResourceType.TOPIC, topic.topic_name)
