"""DescribeProducers, version 0: the producer states of partitions (KIP-664).

Errors per partition: INVALID_TOPIC_EXCEPTION, TOPIC_AUTHORIZATION_FAILED, NOT_LEADER_OR_FOLLOWER,
UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR.

A request with the tagged field `HELD_TAG`, which only Ottla's commands send, gets what each
partition holds until it is due, instead of its producers (model/held_records.py).
"""

from __future__ import annotations

from ottla.broker.delaying.delays import Delays
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.refused_topics import refused_topics, unauthorized_topic
from ottla.controller.operations.topic_names import check_name
from ottla.model import KafkaError
from ottla.model.held_records import HELD_TAG, encode_held
from ottla.replication.partition import Partition
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
    delays: Delays,
) -> DescribeProducersResponse:
    refused = refused_topics(context.rights, AclOperation.READ, request.topics)
    held = delays if request.unknown_tags and HELD_TAG in request.unknown_tags else None
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[
                    _describe(partitions, held, topic.name, index, is_refused=topic.name in refused)
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def _describe(
    partitions: Partitions, delays: Delays | None, topic: str, index: int, *, is_refused: bool
) -> PartitionResponse:
    try:
        check_name(topic)
        if is_refused:
            raise unauthorized_topic(topic)
        partition = partitions.by_name(topic, index)
        log = partition.require_log()
        if delays is not None:
            partition.require_leader()
            return _held(delays, partition)
    except KafkaError as error:
        return PartitionResponse(
            partition_index=index, error_code=error.code, error_message=error.message
        )
    return PartitionResponse(
        partition_index=index,
        active_producers=[_state(entry) for entry in log.producers.state.entries.values()],
    )


def _held(delays: Delays, partition: Partition) -> PartitionResponse:
    answer = PartitionResponse(partition_index=partition.name.partition)
    held = delays.get(partition.name)
    if held is not None:
        answer.unknown_tags = {HELD_TAG: encode_held(held.describe())}
    return answer


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
