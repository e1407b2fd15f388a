"""DescribeQuorum, versions 0 to 2: who keeps the metadata, and how far each of them is (KIP-595).

This node is the quorum. Error per partition: UNKNOWN_TOPIC_OR_PARTITION for any other than
`__cluster_metadata-0`.
"""

from __future__ import annotations

from ottla.broker.broker import Broker
from ottla.broker.handling import RequestContext, handles
from ottla.controller.metadata_log import METADATA_PARTITION
from ottla.model import ZERO_UUID, ErrorCode, Uuid
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartitionData,
    DescribeQuorumResponseTopicData,
    Listener,
    Node,
    ReplicaState,
)


@handles(ApiKey.DESCRIBE_QUORUM)
def describe_quorum(
    broker: Broker,
    context: RequestContext,  # noqa: ARG001 - every handler's signature
    request: DescribeQuorumRequest,
) -> DescribeQuorumResponse:
    return DescribeQuorumResponse(
        error_message=None,
        topics=[
            DescribeQuorumResponseTopicData(
                topic_name=topic.topic_name,
                partitions=[
                    _describe(broker)
                    if (topic.topic_name, asked.partition_index) == METADATA_PARTITION
                    else DescribeQuorumResponsePartitionData(
                        partition_index=asked.partition_index,
                        error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                    )
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ],
        nodes=[
            Node(
                node_id=controller.id,
                listeners=[
                    Listener(name=each.name, host=each.host, port=each.port)
                    for each in controller.endpoints
                ],
            )
            for controller in broker.image.controllers.values()
        ],
    )


def _describe(broker: Broker) -> DescribeQuorumResponsePartitionData:
    end, now_ms = broker.controller.committed_offset, broker.clock.now_ms()
    return DescribeQuorumResponsePartitionData(
        partition_index=METADATA_PARTITION.partition,
        error_message=None,
        leader_id=broker.node_id,
        leader_epoch=broker.controller.epoch,
        high_watermark=end,
        current_voters=[
            ReplicaState(
                replica_id=broker.node_id,
                replica_directory_id=_metadata_directory_id(broker),
                log_end_offset=end,
                last_fetch_timestamp=now_ms,
                last_caught_up_timestamp=now_ms,
            )
        ],
    )


def _metadata_directory_id(broker: Broker) -> Uuid:
    for directory in broker.logs.directories:
        if directory.path == broker.config.metadata_log_dir:
            return directory.id or ZERO_UUID
    return ZERO_UUID
