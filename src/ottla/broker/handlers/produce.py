"""Produce, versions 3 to 13: appends a batch to each partition named.

acks=0 gets no answer, and a closed connection instead of an error. Errors per partition:
UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, NOT_LEADER_OR_FOLLOWER, INVALID_REQUIRED_ACKS,
KAFKA_STORAGE_ERROR, and those of leader_batch.py and producer_state.py.
"""

from __future__ import annotations

from ottla.broker.broker import Broker
from ottla.broker.handling import RequestContext, handles
from ottla.broker.pending import Pending
from ottla.model import ErrorCode, KafkaError
from ottla.replication.partition import Partition
from ottla.wire.apis import ApiKey
from ottla.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)

_ACKS = (-1, 0, 1)


@handles(ApiKey.PRODUCE)
def produce(
    broker: Broker, context: RequestContext, request: ProduceRequest
) -> ProduceResponse | Pending | None:
    now_ms = broker.clock.now_ms()
    by_id = context.api_version >= 13
    unsynced: list[Partition] = []
    failed = False
    topics = []
    for topic in request.topic_data:
        answers = []
        for data in topic.partition_data:
            try:
                if request.acks not in _ACKS:
                    raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={request.acks}")
                partition = (
                    broker.partitions.by_id(topic.topic_id, data.index)
                    if by_id
                    else broker.partitions.by_name(topic.name, data.index)
                )
                answers.append(_append(broker, partition, data, now_ms))
                if partition.require_log().config.syncs_before_acknowledging:
                    unsynced.append(partition)
            except KafkaError as error:
                failed = True
                answers.append(
                    PartitionProduceResponse(
                        index=data.index,
                        error_code=error.code,
                        base_offset=-1,
                        error_message=error.message,
                    )
                )
        topics.append(
            TopicProduceResponse(
                name=topic.name, topic_id=topic.topic_id, partition_responses=answers
            )
        )
    response = ProduceResponse(responses=topics)
    if request.acks == 0:
        if failed:
            raise ConnectionAbortedError("an append with acks=0 was refused")
        return None
    if unsynced:
        return broker.when_synced(unsynced, response)
    return response


def _append(
    broker: Broker, partition: Partition, data: PartitionProduceData, now_ms: int
) -> PartitionProduceResponse:
    if data.records is None:
        raise KafkaError(ErrorCode.INVALID_RECORD, "a produce request without records")
    try:
        result = partition.append(data.records, now_ms=now_ms)
    except OSError as error:
        raise broker.storage_failed(partition, error) from error
    return PartitionProduceResponse(
        index=data.index,
        base_offset=result.first_offset,
        log_append_time_ms=result.log_append_time_ms,
        log_start_offset=partition.require_log().log_start_offset,
    )
