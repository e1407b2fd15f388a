"""Topics that coordinators keep their state in: made when the first client looks for one."""

from __future__ import annotations

import logging

from ottla.broker.broker import Broker
from ottla.broker.coordinators import CONSUMER_OFFSETS
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

_log = logging.getLogger(__name__)

_REPLICATION_FACTOR = "offsets.topic.replication.factor"


async def create_consumer_offsets(broker: Broker) -> None:
    """Returns when the topic can be used. Raises `KafkaError` if it was not made."""
    config = broker.config
    request = CreateTopicsRequest(
        topics=[
            CreatableTopic(
                name=CONSUMER_OFFSETS,
                num_partitions=config.offsets_topic_num_partitions,
                replication_factor=_replication_factor(broker),
                configs=[
                    CreatableTopicConfig(name="cleanup.policy", value="compact"),
                    CreatableTopicConfig(name="compression.type", value="producer"),
                    CreatableTopicConfig(
                        name="segment.bytes", value=str(config.offsets_topic_segment_bytes)
                    ),
                ],
            )
        ]
    )
    response = await broker.controller.ask(request)
    (result,) = response.topics
    if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
        message = f"{CONSUMER_OFFSETS} cannot be made: {result.error_message}"
        _log.warning(message)
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, message)
    await broker.replicas.wait_applied()


def _replication_factor(broker: Broker) -> int:
    """What is configured; where nothing is, as many as there are brokers for. Kafka insists on
    three then, and a node on its own would never coordinate a group."""
    config = broker.config
    factor = config.offsets_topic_replication_factor
    if _REPLICATION_FACTOR in config.layers.static:
        return factor
    return min(factor, len(broker.image.brokers))
