"""The five APIs of share coordinators, which differ only in their messages and operations.

A request has partitions of several topics of one group. Each partition is handled by the
coordinator of its own key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.gathered import Gathered
from ottla.broker.network.handling import RequestContext
from ottla.broker.network.pending import Pending
from ottla.channels import versions
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.shares.share_key import ShareKey
from ottla.wire.messages import delete_share_group_state as delete_wire
from ottla.wire.messages import initialize_share_group_state as initialize_wire
from ottla.wire.messages import read_share_group_state as read_wire
from ottla.wire.messages import read_share_group_state_summary as summary_wire
from ottla.wire.messages import write_share_group_state as write_wire
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.runtime.outcome import Outcome
    from ottla.coordinator.shares.coordinator import ShareCoordinator

RIGHTS: Final = (Right(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER),)


class ShareStateApi(NamedTuple):
    """`data` is the class of a partition in the request, `result` that in the response."""

    request: Callable[..., Message]
    topic: Callable[..., Any]
    response: Callable[..., Message]
    topic_result: Callable[..., Any]
    result: Callable[..., Any]
    version: int
    operation: Callable[[ShareKey, Any, ShareCoordinator], Outcome]

    def refuse(self, key: ShareKey, error: KafkaError) -> Any:
        return self.result(
            partition=key.partition, error_code=error.code, error_message=error.message
        )

    def request_of(self, wanted: Sequence[tuple[ShareKey, Any]]) -> Message:
        """A request with partitions of one group, sorted by topic."""
        return self.request(
            group_id=wanted[0][0].group_id,
            topics=[
                self.topic(topic_id=topic_id, partitions=[data for _, data in each])
                for topic_id, each in groupby(wanted, lambda pair: pair[0].topic_id)
            ],
        )

    def response_of(self, found: Sequence[tuple[ShareKey, Any]]) -> Message:
        return self.response(
            results=[
                self.topic_result(topic_id=topic_id, partitions=[result for _, result in each])
                for topic_id, each in groupby(found, lambda pair: pair[0].topic_id)
            ]
        )


INITIALIZE: Final = ShareStateApi(
    initialize_wire.InitializeShareGroupStateRequest,
    initialize_wire.InitializeStateData,
    initialize_wire.InitializeShareGroupStateResponse,
    initialize_wire.InitializeStateResult,
    initialize_wire.PartitionResult,
    versions.INITIALIZE_SHARE_GROUP_STATE,
    lambda key, data, shares: shares.initialize(
        key, state_epoch=data.state_epoch, start_offset=data.start_offset
    ),
)
READ: Final = ShareStateApi(
    read_wire.ReadShareGroupStateRequest,
    read_wire.ReadStateData,
    read_wire.ReadShareGroupStateResponse,
    read_wire.ReadStateResult,
    read_wire.PartitionResult,
    versions.READ_SHARE_GROUP_STATE,
    lambda key, data, shares: shares.read(key, leader_epoch=data.leader_epoch),
)
WRITE: Final = ShareStateApi(
    write_wire.WriteShareGroupStateRequest,
    write_wire.WriteStateData,
    write_wire.WriteShareGroupStateResponse,
    write_wire.WriteStateResult,
    write_wire.PartitionResult,
    versions.WRITE_SHARE_GROUP_STATE,
    lambda key, data, shares: shares.write(key, data),
)
DELETE: Final = ShareStateApi(
    delete_wire.DeleteShareGroupStateRequest,
    delete_wire.DeleteStateData,
    delete_wire.DeleteShareGroupStateResponse,
    delete_wire.DeleteStateResult,
    delete_wire.PartitionResult,
    versions.DELETE_SHARE_GROUP_STATE,
    lambda key, _data, shares: shares.delete(key),
)
SUMMARY: Final = ShareStateApi(
    summary_wire.ReadShareGroupStateSummaryRequest,
    summary_wire.ReadStateSummaryData,
    summary_wire.ReadShareGroupStateSummaryResponse,
    summary_wire.ReadStateSummaryResult,
    summary_wire.PartitionResult,
    versions.READ_SHARE_GROUP_STATE_SUMMARY,
    lambda key, _data, shares: shares.summary(key),
)


def handle_state_request(
    api: ShareStateApi,
    context: RequestContext,
    request: Any,
    shares: CoordinatorShards[ShareCoordinator],
) -> Message | Pending:
    """Runs the operation of each partition on its coordinator, and combines the results."""
    wanted = [
        (ShareKey(request.group_id, topic.topic_id, data.partition), data)
        for topic in request.topics
        for data in topic.partitions
    ]
    if not context.rights.allows(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME):
        error = KafkaError(
            ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
            "only brokers may access the state of share groups; it needs CLUSTER_ACTION",
        )
        return api.response_of([(key, api.refuse(key, error)) for key, _ in wanted])
    keys = [key for key, _ in wanted]
    gathered = Gathered(
        len(wanted), lambda results: api.response_of(list(zip(keys, results, strict=True)))
    )
    for index, (key, data) in enumerate(wanted):
        shares.submit(
            key.text,
            partial(api.operation, key, data),
            gathered.reply(index),
            partial(api.refuse, key),
        )
    return gathered.pending.answer
