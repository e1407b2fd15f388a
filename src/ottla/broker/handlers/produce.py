"""Produce, versions 3 to 13: appends a batch to each partition named.

acks=0 gets no answer, and a closed connection instead of an error. Errors per partition:
UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, NOT_LEADER_OR_FOLLOWER, INVALID_REQUIRED_ACKS,
KAFKA_STORAGE_ERROR, and those of leader_batch.py and producer_state.py.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from ottla.broker.broker import Broker
from ottla.broker.handling import RequestContext, handles
from ottla.broker.pending import Pending
from ottla.model import ErrorCode, KafkaError
from ottla.replication.partition import Partition
from ottla.storage.log import Log
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
    unsynced: list[_Unsynced] = []
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
                answer = _append(broker, partition, data, now_ms)
                log = partition.require_log()
                if log.config.syncs_before_acknowledging:
                    durable = broker.commit.when_durable(log, log.log_end_offset)
                    unsynced.append(_Unsynced(log, answer, durable))
            except KafkaError as error:
                failed = True
                answer = PartitionProduceResponse(index=data.index)
                _refuse(answer, error)
            answers.append(answer)
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
        pending = Pending()
        broker.tasks.start("acknowledge", _acknowledge(broker, unsynced, response, pending))
        return pending
    return response


class _Unsynced(NamedTuple):
    """An append that is answered when it is on the device, or when it failed to get there."""

    log: Log
    answer: PartitionProduceResponse
    durable: asyncio.Future[None]


async def _acknowledge(
    broker: Broker, unsynced: list[_Unsynced], response: ProduceResponse, pending: Pending
) -> None:
    for log, answer, durable in unsynced:
        try:
            await durable
        except KafkaError as error:
            _refuse(answer, error)
        except OSError as error:
            # Nobody knows what of it is there: the directory is out of use from now on.
            _refuse(answer, broker.log_failed(log, error))
    pending.resolve(response)


def _refuse(answer: PartitionProduceResponse, error: KafkaError) -> None:
    answer.error_code = error.code
    answer.error_message = error.message
    answer.base_offset = -1


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
