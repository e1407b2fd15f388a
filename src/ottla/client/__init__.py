"""Clients of Apache Kafka 4 and Ottla in pure Python: producers, consumers and administration."""

from typing import TYPE_CHECKING

from ottla.exports import lazy_names

if TYPE_CHECKING:
    from ottla.client.consuming.consumer import Consumer
    from ottla.client.records import ConsumedRecord, ConsumerGroupMetadata, OffsetAndMetadata
    from ottla.model.topic_partition import TopicPartition
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "ConsumedRecord": "ottla.client.records",
            "Consumer": "ottla.client.consuming.consumer",
            "ConsumerGroupMetadata": "ottla.client.records",
            "OffsetAndMetadata": "ottla.client.records",
            "TopicPartition": "ottla.model.topic_partition",
        },
    )

__all__ = [
    "ConsumedRecord",
    "Consumer",
    "ConsumerGroupMetadata",
    "OffsetAndMetadata",
    "TopicPartition",
]
