"""Ids and values that all other packages use."""

from ottla.model.buffers import Buffer, Part
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.ids import (
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    LeaderEpoch,
    NodeId,
    Offset,
    ProducerEpoch,
    ProducerId,
    TimestampMs,
)
from ottla.model.topic_partition import TopicPartition
from ottla.model.uuids import ZERO_UUID, Uuid, uuid_from_text, uuid_to_text

__all__ = [
    "NO_LEADER_EPOCH",
    "NO_PRODUCER_EPOCH",
    "NO_PRODUCER_ID",
    "NO_SEQUENCE",
    "NO_TIMESTAMP",
    "ZERO_UUID",
    "Buffer",
    "ErrorCode",
    "KafkaError",
    "LeaderEpoch",
    "NodeId",
    "Offset",
    "Part",
    "ProducerEpoch",
    "ProducerId",
    "TimestampMs",
    "TopicPartition",
    "Uuid",
    "uuid_from_text",
    "uuid_to_text",
]
