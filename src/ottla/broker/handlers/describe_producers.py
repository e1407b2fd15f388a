"""DescribeProducers, version 0: the producer states of partitions (KIP-664).

Errors per partition: INVALID_TOPIC_EXCEPTION, TOPIC_AUTHORIZATION_FAILED,
UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR.
"""

from __future__ import annotations

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.refused_topics import refused_topics, unauthorized_topic
from ottla.controller.operations.topic_names import check_name
from ottla.model import KafkaError
from ottla.replication.partitions import Partitions
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.storage.producers.producer_entry import NO_OFFSET, ProducerEntry
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)


@handles(ApiKey.DESCRIBE_PRODUCERS, rights=(Right(AclOperation.READ, ResourceType.TOPIC),))
def describe_producers(
    context: RequestContext,
    request: DescribeProducersRequest,
    *,
    partitions: Partitions,
) -> DescribeProducersResponse:
    refused = refused_topics(context.rights, AclOperation.READ, request.topics)
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[
                    _describe(partitions, topic.name, index, is_refused=topic.name in refused)
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def _describe(
    partitions: Partitions, topic: str, index: int, *, is_refused: bool
) -> PartitionResponse:
    try:
        check_name(topic)
        if is_refused:
            raise unauthorized_topic(topic)
        log = partitions.by_name(topic, index).require_log()
    except KafkaError as error:
        return PartitionResponse(
            partition_index=index, error_code=error.code, error_message=error.message
        )
    return PartitionResponse(
        partition_index=index,
        active_producers=[_state(entry) for entry in log.producers.state.entries.values()],
    )


def _state(entry: ProducerEntry) -> ProducerState:
    first_offset = entry.current_txn_first_offset
    return ProducerState(
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        last_sequence=entry.last_sequence,
        last_timestamp=entry.last_timestamp,
        coordinator_epoch=entry.coordinator_epoch,
        current_txn_start_offset=NO_OFFSET if first_offset is None else first_offset,
    )
