"""ConsumerGroupDescribe, versions 0 and 1: describes consumer groups (KIP-848) and their members.

Errors per group: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, and those of the coordinator itself.
"""

from __future__ import annotations

from ottla.broker.administration.authorized_operations import GROUP_OPERATIONS
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.fan_out import run_for_each
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.coordinator.groups.coordinator import GroupCoordinator
from ottla.coordinator.runtime.outcome import Outcome
from ottla.model import ErrorCode, KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from ottla.wire.schema import Message


@handles(ApiKey.CONSUMER_GROUP_DESCRIBE)
def consumer_group_describe(
    context: RequestContext,  # noqa: ARG001 - every handler's signature
    request: ConsumerGroupDescribeRequest,
    *,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    def describe(group_id: str, groups: GroupCoordinator) -> Outcome:
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "a group's id cannot be empty")
        described = groups.describe_consumer(group_id)
        if request.include_authorized_operations and not described.error_code:
            described.authorized_operations = GROUP_OPERATIONS
        return Outcome(response=described)

    def refuse(group_id: str, error: KafkaError) -> DescribedGroup:
        return DescribedGroup(error_code=error.code, error_message=error.message, group_id=group_id)

    return run_for_each(
        groups,
        request.group_ids,
        describe,
        refuse,
        lambda found: ConsumerGroupDescribeResponse(groups=list(found)),
    )
