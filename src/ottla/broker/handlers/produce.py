"""Produce, versions 3 to 13: appends a batch to each partition named.

acks=0 gets no answer, and a closed connection instead of an error. With acks=all the answer comes
when all in-sync replicas have it. With a transactional id, transactional_produce.py goes first;
opened_produce.py goes before batches whose records have to be looked at. Errors per partition:
UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, NOT_LEADER_OR_FOLLOWER, INVALID_TOPIC_EXCEPTION for an
internal topic, INVALID_REQUIRED_ACKS, NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER_APPEND,
REQUEST_TIMED_OUT, KAFKA_STORAGE_ERROR, TRANSACTIONAL_ID_AUTHORIZATION_FAILED, and those of
leader_batch.py, opened_batch.py, producer_state.py and transactional_produce.py. From version 8 on
an answer names the records that spoiled a batch (KIP-467).
"""

from __future__ import annotations

from typing import Final

from ottla.broker.broker import Broker
from ottla.broker.fetching.leader_hints import LeaderHints
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.producing.acknowledgement import Acknowledgement
from ottla.broker.producing.opened_produce import Opened, OpenedProduce, has_to_open
from ottla.broker.producing.produced_partition import produced_partition
from ottla.broker.transactions.known_transactions import verified_at_once
from ottla.broker.transactions.transaction_requests import within_transaction
from ottla.broker.transactions.transactional_produce import (
    TransactionalProduce,
    VerifiedProduce,
    claims_transaction,
)
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.replication.partition import ACKS_ALL, Partition
from ottla.storage.batches.opened_batch import OpenedBatch
from ottla.storage.batches.record_errors import InvalidRecordsError
from ottla.storage.log.log import AppendResult
from ottla.wire.apis import ApiKey
from ottla.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.wire.schema import Message

_ACKS = (ACKS_ALL, 0, 1)
# Refusals that tell where the log begins, as Kafka's do.
_ABOUT_RECORDS: Final = (ErrorCode.INVALID_RECORD, ErrorCode.INVALID_TIMESTAMP)
_NOTHING_OPENED: Final[Opened] = {}


@handles(ApiKey.PRODUCE)
def produce(
    broker: Broker, context: RequestContext, request: ProduceRequest
) -> Message | Pending | None:
    if request.transactional_id is None:
        return _append_opened(broker, context, request)
    return _append_transactional(broker, context, request)


@within_transaction
def _append_transactional(
    broker: Broker, context: RequestContext, request: ProduceRequest
) -> Message | Pending | None:
    verified = verified_at_once(broker, context, request)
    if verified is not None:
        return _append_opened(broker, context, request, verified)
    return TransactionalProduce(broker, context, request, _append_opened).run()


def _append_opened(
    broker: Broker,
    context: RequestContext,
    request: ProduceRequest,
    verified: VerifiedProduce | None = None,
) -> Message | Pending | None:
    if has_to_open(broker, context.api_version, request):
        return OpenedProduce(broker, context, request, verified, _append_all).run()
    return _append_all(broker, context, request, verified, _NOTHING_OPENED)


def _append_all(
    broker: Broker,
    context: RequestContext,
    request: ProduceRequest,
    verified: VerifiedProduce | None,
    opened: Opened,
) -> ProduceResponse | Pending | None:
    now_ms = broker.clock.now_ms()
    acks, version, partitions = request.acks, context.api_version, broker.partitions
    acknowledgement: Acknowledgement | None = None
    failed = False
    topics = []
    for topic in request.topic_data:
        answers = []
        for data in topic.partition_data:
            answer = PartitionProduceResponse(index=data.index)
            answers.append(answer)
            partition = None
            try:
                if acks not in _ACKS:
                    raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={acks}")
                partition = produced_partition(partitions, version, topic, data.index)
                known = opened.get(id(data)) if opened else None
                result = _append(broker, partition, data, acks, now_ms, verified, known)
            except KafkaError as error:
                failed = True
                _refuse(answer, error, partition)
                continue
            log = partition.require_log()
            answer.base_offset, last_offset, answer.log_append_time_ms, _ = result
            answer.log_start_offset = log.log_start_offset
            is_replicated = acks != ACKS_ALL or partition.is_acknowledged(last_offset + 1)
            if not is_replicated or log.config.syncs_before_acknowledging:
                acknowledgement = acknowledgement or Acknowledgement(broker)
                acknowledgement.expect(partition, answer, result, is_replicated=is_replicated)
        topics.append(
            TopicProduceResponse(
                name=topic.name, topic_id=topic.topic_id, partition_responses=answers
            )
        )
    response = ProduceResponse(responses=topics)
    if acks == 0:
        if failed:
            raise ConnectionAbortedError("an append with acks=0 was refused")
        return None
    if failed:
        _add_hints(broker, context, response)
    if acknowledgement is not None:
        return acknowledgement.wait(response, timeout_ms=request.timeout_ms)
    return response


def _append(
    broker: Broker,
    partition: Partition,
    data: PartitionProduceData,
    acks: int,
    now_ms: int,
    verified: VerifiedProduce | None,
    opened: OpenedBatch | KafkaError | None,
) -> AppendResult:
    records, verification = data.records, None
    if records is None:
        raise KafkaError(ErrorCode.INVALID_RECORD, "a produce request without records")
    if verified is not None:
        verification = verified.require(partition.name)
    elif claims_transaction(records):
        raise KafkaError(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            "a batch is a part of a transaction, and the request names no transactional id",
        )
    if isinstance(opened, KafkaError):
        # Where this node does not lead any more, that is what the client has to know.
        partition.require_leader()
        raise opened
    try:
        return partition.append(
            records, now_ms=now_ms, acks=acks, verification=verification, opened=opened
        )
    except OSError as error:
        raise broker.storage_failed(partition, error) from error


def _refuse(
    answer: PartitionProduceResponse, error: KafkaError, partition: Partition | None
) -> None:
    answer.error_code, answer.error_message = error.code, error.message
    answer.base_offset = -1
    if error.code in _ABOUT_RECORDS and partition is not None and partition.log is not None:
        answer.log_start_offset = partition.log.log_start_offset
    if isinstance(error, InvalidRecordsError):
        answer.record_errors = [
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=message)
            for index, message in error.record_errors
        ]


def _add_hints(broker: Broker, context: RequestContext, response: ProduceResponse) -> None:
    hints = LeaderHints(broker, context.listener)
    for topic in response.responses:
        for answer in topic.partition_responses:
            name = TopicPartition(topic.name, answer.index)
            leader = hints.of(answer.error_code, name, topic.topic_id)
            if leader is not None:
                answer.current_leader = LeaderIdAndEpoch(
                    leader_id=leader.node_id, leader_epoch=leader.epoch
                )
    response.node_endpoints = [
        NodeEndpoint(node_id=node.id, host=endpoint.host, port=endpoint.port, rack=node.rack)
        for node, endpoint in hints.endpoints()
    ]
