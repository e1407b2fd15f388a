"""A partition's log as Apache Kafka sees it after opening its directory."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class KafkaLeaderEpoch:
    epoch: int
    start_offset: int


@dataclass(frozen=True, slots=True)
class KafkaProducerBatch:
    first_sequence: int
    last_sequence: int
    first_offset: int
    last_offset: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class KafkaProducer:
    """A producer's state; `batches` are the last ones (at most five), oldest first.

    A producer state that was loaded from a snapshot knows its very last batch only.
    """

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    last_timestamp: int
    current_txn_first_offset: int | None
    batches: tuple[KafkaProducerBatch, ...]


@dataclass(frozen=True, slots=True)
class KafkaAbortedTxn:
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


@dataclass(frozen=True, slots=True)
class KafkaSegment:
    base_offset: int
    size: int
    largest_timestamp: int | None
    index_entries: int
    time_index_entries: int


@dataclass(frozen=True, slots=True)
class KafkaLog:
    """`last_stable_offset` is the one that holds with a high watermark at the end of the log."""

    log_start_offset: int
    log_end_offset: int
    last_stable_offset: int
    recovery_point: int
    topic_id: str | None
    leader_epochs: tuple[KafkaLeaderEpoch, ...]
    producers: tuple[KafkaProducer, ...]
    segments: tuple[KafkaSegment, ...]
    aborted_txns: tuple[KafkaAbortedTxn, ...]


def log_from_json(data: dict[str, Any]) -> KafkaLog:
    return KafkaLog(
        **{
            **data,
            "leader_epochs": tuple(KafkaLeaderEpoch(**entry) for entry in data["leader_epochs"]),
            "producers": tuple(_producer(entry) for entry in data["producers"]),
            "segments": tuple(KafkaSegment(**entry) for entry in data["segments"]),
            "aborted_txns": tuple(KafkaAbortedTxn(**entry) for entry in data["aborted_txns"]),
        }
    )


def _producer(data: dict[str, Any]) -> KafkaProducer:
    batches = tuple(KafkaProducerBatch(**batch) for batch in data["batches"])
    return KafkaProducer(**{**data, "batches": batches})
