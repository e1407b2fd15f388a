"""DescribeQuorum, versions 0 to 2: the replicas of the metadata log and their progress (KIP-595,
KIP-853).

Error per partition: UNKNOWN_TOPIC_OR_PARTITION for any other than `__cluster_metadata-0`. For the
whole request NOT_LEADER_OR_FOLLOWER if this node is not the leader of the quorum: only the leader
has this information.
"""

from __future__ import annotations

from ottla.controller.metadata_log import METADATA_PARTITION
from ottla.controller.quorum import MetadataQuorum
from ottla.model import ErrorCode, KafkaError
from ottla.raft import QuorumDescription, ReplicaDescription
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartitionData,
    DescribeQuorumResponseTopicData,
    Listener,
    Node,
    ReplicaState,
)


def describe_quorum(
    quorum: MetadataQuorum, request: DescribeQuorumRequest
) -> DescribeQuorumResponse:
    """Raises `KafkaError` (NOT_LEADER_OR_FOLLOWER)."""
    description = quorum.describe()
    if description is None:
        raise KafkaError(
            ErrorCode.NOT_LEADER_OR_FOLLOWER, "this node does not lead the metadata quorum"
        )
    return DescribeQuorumResponse(
        error_message=None,
        topics=[
            DescribeQuorumResponseTopicData(
                topic_name=topic.topic_name,
                partitions=[
                    _partition(quorum, description)
                    if (topic.topic_name, requested.partition_index) == METADATA_PARTITION
                    else _unknown(requested.partition_index)
                    for requested in topic.partitions
                ],
            )
            for topic in request.topics
        ],
        nodes=[
            Node(
                node_id=voter.key.id,
                listeners=[
                    Listener(name=each.name, host=each.host, port=each.port)
                    for each in voter.endpoints
                ],
            )
            for voter in quorum.voters.voters
        ],
    )


def _partition(
    quorum: MetadataQuorum, description: QuorumDescription
) -> DescribeQuorumResponsePartitionData:
    return DescribeQuorumResponsePartitionData(
        partition_index=METADATA_PARTITION.partition,
        error_message=None,
        leader_id=description.leader_id,
        leader_epoch=description.epoch,
        high_watermark=-1 if description.high_watermark is None else description.high_watermark,
        current_voters=[_state(quorum, each) for each in description.replicas],
        observers=[_state(quorum, each) for each in description.observers],
    )


def _state(quorum: MetadataQuorum, replica: ReplicaDescription) -> ReplicaState:
    return ReplicaState(
        replica_id=replica.key.id,
        replica_directory_id=replica.key.directory_id,
        log_end_offset=-1 if replica.end_offset is None else replica.end_offset,
        last_fetch_timestamp=quorum.wall_ms(replica.last_fetch_ms),
        last_caught_up_timestamp=quorum.wall_ms(replica.last_caught_up_ms),
    )


def _unknown(partition: int) -> DescribeQuorumResponsePartitionData:
    return DescribeQuorumResponsePartitionData(
        partition_index=partition, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
