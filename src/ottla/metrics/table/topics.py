"""Records of clients, by topic."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter

_TOPICS: Final = "kafka.server:type=BrokerTopicMetrics,name={},topic=*"

TOPIC_RECEIVED_BYTES: Final = counter(
    "ottla_topic_received_bytes_total",
    "Bytes of the record batches that producers appended, by topic.",
    "topic",
    kafka=_TOPICS.format("BytesInPerSec"),
)
TOPIC_RECEIVED_RECORDS: Final = counter(
    "ottla_topic_received_records_total",
    "Records that producers appended, by topic.",
    "topic",
    kafka=_TOPICS.format("MessagesInPerSec"),
)
TOPIC_SENT_BYTES: Final = counter(
    "ottla_topic_sent_bytes_total",
    "Bytes of record batches in the responses to consumers, by topic.",
    "topic",
    kafka=_TOPICS.format("BytesOutPerSec"),
)
TOPIC_SENT_RECORDS: Final = counter(
    "ottla_topic_sent_records_total",
    "Offsets in the record batches in the responses to consumers, by topic. Estimated from the "
    "sizes where a response ends within a segment. Includes the gaps that compaction leaves.",
    "topic",
)
TOPIC_REJECTED_BYTES: Final = counter(
    "ottla_topic_rejected_bytes_total",
    "Bytes of record batches that were not appended because of an error, by topic.",
    "topic",
    kafka=_TOPICS.format("BytesRejectedPerSec"),
)
TOPIC_PRODUCE_REQUESTS: Final = counter(
    "ottla_topic_produce_requests_total",
    "Appends to partitions that producers requested, by topic; failed ones included.",
    "topic",
    kafka=_TOPICS.format("TotalProduceRequestsPerSec"),
)
TOPIC_FAILED_PRODUCE_REQUESTS: Final = counter(
    "ottla_topic_failed_produce_requests_total",
    "Appends to partitions that failed, by topic.",
    "topic",
    kafka=_TOPICS.format("FailedProduceRequestsPerSec"),
)
TOPIC_FETCH_REQUESTS: Final = counter(
    "ottla_topic_fetch_requests_total",
    "Reads of partitions for consumers, by topic; failed ones included.",
    "topic",
    kafka=_TOPICS.format("TotalFetchRequestsPerSec"),
)
TOPIC_FAILED_FETCH_REQUESTS: Final = counter(
    "ottla_topic_failed_fetch_requests_total",
    "Reads of partitions for consumers that failed, by topic.",
    "topic",
    kafka=_TOPICS.format("FailedFetchRequestsPerSec"),
)
TOPIC_SCHEMA_REFUSED_RECORDS: Final = counter(
    "ottla_topic_schema_refused_records_total",
    "Records in batches that were refused because a record does not fit its schema, by topic. "
    "Retries count again.",
    "topic",
)
TOPIC_SCHEMA_SET_ASIDE_RECORDS: Final = counter(
    "ottla_topic_schema_set_aside_records_total",
    "Records in batches that were written to a dead letter topic because a record does not fit its "
    "schema, by topic. Retries count again.",
    "topic",
)

TOPIC_FAMILIES: Final = (
    TOPIC_RECEIVED_BYTES,
    TOPIC_RECEIVED_RECORDS,
    TOPIC_SENT_BYTES,
    TOPIC_SENT_RECORDS,
    TOPIC_REJECTED_BYTES,
    TOPIC_PRODUCE_REQUESTS,
    TOPIC_FAILED_PRODUCE_REQUESTS,
    TOPIC_FETCH_REQUESTS,
    TOPIC_FAILED_FETCH_REQUESTS,
    TOPIC_SCHEMA_REFUSED_RECORDS,
    TOPIC_SCHEMA_SET_ASIDE_RECORDS,
)
