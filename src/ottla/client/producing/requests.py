"""Produce requests of batches, and the part of a response that is about each batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ottla.client.cluster import ClientCluster
from ottla.client.errors import ApiError, error_for
from ottla.client.producing.batch import ProducerBatch
from ottla.client.settings.producer import ProducerSettings
from ottla.model import ZERO_UUID, ErrorCode, Uuid
from ottla.wire.messages.produce import (
    LeaderIdAndEpoch,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)


class BatchAnswer(NamedTuple):
    """What a node answered about one batch."""

    batch: ProducerBatch
    code: ErrorCode
    message: str | None = None
    base_offset: int = -1
    log_append_time: int = -1
    leader: LeaderIdAndEpoch | None = None

    def error(self) -> ApiError:
        what = f"writing {self.batch.count} records to {self.batch.partition}"
        return error_for(self.code, f"{what}: {self.message}" if self.message else what)


def produce_request(
    batches: Sequence[ProducerBatch],
    settings: ProducerSettings,
    transactional_id: str | None,
    cluster: ClientCluster,
) -> ProduceRequest:
    topics: dict[str, list[PartitionProduceData]] = {}
    for batch in batches:
        topic, partition = batch.partition
        data = PartitionProduceData(index=partition, records=batch.sealed)
        topics.setdefault(topic, []).append(data)
    known = cluster.metadata.topics
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=settings.acks,
        timeout_ms=settings.cluster.request_timeout_ms,
        # Up to version 12 topics have names, from 13 on ids.
        topic_data=[
            TopicProduceData(
                name=topic,
                topic_id=known[topic].topic_id if topic in known else ZERO_UUID,
                partition_data=data,
            )
            for topic, data in topics.items()
        ],
    )


def answers(
    batches: Sequence[ProducerBatch], response: ProduceResponse, names: Mapping[Uuid, str]
) -> list[BatchAnswer]:
    """One for each batch. A batch that the response leaves out counts as not answered."""
    found = {(topic, said.index): said for topic, said in _partitions(response, names)}
    return [_answer(batch, found.get(batch.partition)) for batch in batches]


def _partitions(
    response: ProduceResponse, names: Mapping[Uuid, str]
) -> Iterator[tuple[str, PartitionProduceResponse]]:
    for topic in response.responses:
        name = topic.name or names.get(Uuid(bytes(topic.topic_id)), "")
        for said in topic.partition_responses:
            yield name, said


def _answer(batch: ProducerBatch, said: PartitionProduceResponse | None) -> BatchAnswer:
    if said is None:
        return BatchAnswer(batch, ErrorCode.NETWORK_EXCEPTION, "the response leaves it out")
    try:
        code = ErrorCode(said.error_code)
    except ValueError:
        code = ErrorCode.UNKNOWN_SERVER_ERROR
    reasons = [each.batch_index_error_message for each in said.record_errors]
    message = said.error_message or next((reason for reason in reasons if reason), None)
    return BatchAnswer(
        batch, code, message, said.base_offset, said.log_append_time_ms, said.current_leader
    )
