"""The internal topics of coordinators, created when a client first needs one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.channels import versions
from ottla.configs import NodeConfig
from ottla.model import ErrorCode, KafkaError
from ottla.model.internal_topics import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from ottla.security.acls.rights import UNRESTRICTED
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

_log = logging.getLogger(__name__)


class InternalTopic(NamedTuple):
    """The settings with which an internal topic is created."""

    name: str
    replication_factor: str
    num_partitions: Callable[[NodeConfig], int]
    configs: Callable[[NodeConfig, int], dict[str, str]]


def _consumer_offsets(config: NodeConfig, _replication_factor: int) -> dict[str, str]:
    return {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": str(config.offsets_topic_segment_bytes),
    }


def _transaction_state(config: NodeConfig, replication_factor: int) -> dict[str, str]:
    min_isr = min(config.transaction_state_log_min_isr, replication_factor)
    return {
        "unclean.leader.election.enable": "false",
        "compression.type": "uncompressed",
        "cleanup.policy": "compact",
        "min.insync.replicas": str(min_isr),
        "segment.bytes": str(config.transaction_state_log_segment_bytes),
    }


def _share_group_state(config: NodeConfig, replication_factor: int) -> dict[str, str]:
    """Not compacted, because a record may change what earlier ones say: the coordinator deletes
    records when it has written a later snapshot."""
    min_isr = min(config.share_coordinator_state_topic_min_isr, replication_factor)
    return {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "segment.bytes": str(config.share_coordinator_state_topic_segment_bytes),
        "min.insync.replicas": str(min_isr),
        "retention.ms": "-1",
    }


_COORDINATOR_TOPICS: Final = {
    topic.name: topic
    for topic in (
        InternalTopic(
            CONSUMER_OFFSETS,
            "offsets.topic.replication.factor",
            lambda config: config.offsets_topic_num_partitions,
            _consumer_offsets,
        ),
        InternalTopic(
            TRANSACTION_STATE,
            "transaction.state.log.replication.factor",
            lambda config: config.transaction_state_log_num_partitions,
            _transaction_state,
        ),
        InternalTopic(
            SHARE_GROUP_STATE,
            "share.coordinator.state.topic.replication.factor",
            lambda config: config.share_coordinator_state_topic_num_partitions,
            _share_group_state,
        ),
    )
}


async def create_internal_topic(cluster: ClusterView, changes: MetadataChanges, name: str) -> None:
    """Returns when the topic can be used. Raises `KafkaError` if it was not created."""
    topic, config = _COORDINATOR_TOPICS[name], cluster.config
    replication_factor = _replication_factor(cluster, topic)
    configs = topic.configs(config, replication_factor)
    request = CreateTopicsRequest(
        topics=[
            CreatableTopic(
                name=name,
                num_partitions=topic.num_partitions(config),
                replication_factor=replication_factor,
                configs=[
                    CreatableTopicConfig(name=name, value=value) for name, value in configs.items()
                ],
            )
        ]
    )
    response = await changes.request(
        request, versions.CREATE_TOPICS, UNRESTRICTED, is_repeatable=True
    )
    (result,) = response.topics
    if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
        message = f"cannot create {name}: {result.error_message}"
        _log.warning(message)
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, message)


def _replication_factor(cluster: ClusterView, topic: InternalTopic) -> int:
    """The configured replication factor. The default is limited to the number of brokers: Kafka
    always requires its default of three, so a single node could never be a coordinator."""
    config = cluster.config
    factor = config[topic.replication_factor]
    assert isinstance(factor, int)
    if topic.replication_factor in config.layers.static:
        return factor
    return min(factor, len(cluster.image.brokers))
