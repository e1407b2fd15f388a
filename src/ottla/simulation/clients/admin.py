"""A client for administrative requests such as creating topics and moving partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ottla.channels.errors import ChannelError
from ottla.model import ErrorCode, TopicPartition, Uuid, uuid_to_text
from ottla.runtime.network import Address
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.world.host import Host
from ottla.simulation.world.node import SimulatedNode
from ottla.wire.messages import alter_partition_reassignments as reassignments
from ottla.wire.messages import incremental_alter_configs as configs
from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest, Listener
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.wire.schema import Message

_TIMEOUT_MS: Final = 5_000
_TOPIC_RESOURCE: Final = 2
_GROUP_RESOURCE: Final = 32


class SimulatedAdmin:
    """An administrative client in the process of a host.

    Methods return the error code of the response, or None if there was no response.
    """

    def __init__(self, host: Host, bootstrap: Sequence[Address], *, name: str) -> None:
        self._client = ClusterClient(host, bootstrap, name=name)

    async def create_topic(
        self,
        name: str,
        *,
        partitions: int = 1,
        replication_factor: int = 3,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """Creates a topic; retries until it exists."""
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=replication_factor,
            configs=[
                CreatableTopicConfig(name=key, value=value)
                for key, value in (configs or {}).items()
            ],
        )
        while True:
            request = CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS)
            response = await self._try(request, 7)
            error = None if response is None else response.topics[0].error_code
            if error in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                return
            await self._client.back_off()

    async def delete_topic(self, name: str) -> int | None:
        """Deletes a topic."""
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=_TIMEOUT_MS)
        response = await self._try(request, 6)
        return None if response is None else int(response.responses[0].error_code)

    async def undelete_topic(self, name: str, topic_id: Uuid) -> int | None:
        """Restores a deleted topic."""
        config = CreatableTopicConfig(name="ottla.undelete", value=uuid_to_text(topic_id))
        topic = CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, configs=[config]
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS)
        response = await self._try(request, 7)
        return None if response is None else int(response.topics[0].error_code)

    async def topic_id(self, name: str) -> Uuid:
        """The id of a topic that exists; retries until a node knows it."""
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
        )
        while True:
            response = await self._try(request, 12)
            if response is not None and not response.topics[0].error_code:
                topic_id: Uuid = response.topics[0].topic_id
                return topic_id
            await self._client.back_off()

    async def alter_topic(self, name: str, changes: Mapping[str, str]) -> int | None:
        """Sets configs of a topic."""
        return await self._alter(_TOPIC_RESOURCE, name, changes)

    async def alter_group(self, name: str, changes: Mapping[str, str]) -> None:
        """Sets configs of a group; retries until they are set."""
        while await self._alter(_GROUP_RESOURCE, name, changes) != ErrorCode.NONE:
            await self._client.back_off()

    async def _alter(self, kind: int, name: str, changes: Mapping[str, str]) -> int | None:
        resource = configs.AlterConfigsResource(
            resource_type=kind,
            resource_name=name,
            configs=[
                configs.AlterableConfig(name=key, config_operation=0, value=value)
                for key, value in changes.items()
            ],
        )
        response = await self._try(configs.IncrementalAlterConfigsRequest(resources=[resource]), 1)
        return None if response is None else int(response.responses[0].error_code)

    async def reassign(self, partition: TopicPartition, replicas: Sequence[int]) -> int | None:
        """Moves a partition to other brokers."""
        wanted = reassignments.ReassignablePartition(
            partition_index=partition.partition, replicas=list(replicas)
        )
        topic = reassignments.ReassignableTopic(name=partition.topic, partitions=[wanted])
        response = await self._try(
            reassignments.AlterPartitionReassignmentsRequest(
                timeout_ms=_TIMEOUT_MS, topics=[topic]
            ),
            0,
        )
        if response is None or response.error_code:
            return None if response is None else int(response.error_code)
        return int(response.responses[0].partitions[0].error_code)

    async def elect_preferred(self, partition: TopicPartition) -> int | None:
        """Elects the preferred leader of a partition."""
        wanted = TopicPartitions(topic=partition.topic, partitions=[partition.partition])
        response = await self._try(
            ElectLeadersRequest(topic_partitions=[wanted], timeout_ms=_TIMEOUT_MS), 2
        )
        return None if response is None else int(response.error_code)

    async def add_voter(self, node: SimulatedNode) -> int | None:
        """Adds a node to the voters of the metadata quorum."""
        host, port = node.controller_address
        request = AddRaftVoterRequest(
            cluster_id=None,
            timeout_ms=_TIMEOUT_MS,
            voter_id=node.id,
            voter_directory_id=node.directory_id,
            listeners=[Listener(name="CONTROLLER", host=host, port=port)],
        )
        response = await self._try(request, 0)
        return None if response is None else int(response.error_code)

    async def remove_voter(self, node: SimulatedNode) -> int | None:
        """Removes a node from the voters of the metadata quorum."""
        request = RemoveRaftVoterRequest(
            cluster_id=None, voter_id=node.id, voter_directory_id=node.directory_id
        )
        response = await self._try(request, 0)
        return None if response is None else int(response.error_code)

    async def unregister(self, node_id: int) -> int | None:
        """Unregisters a broker."""
        response = await self._try(UnregisterBrokerRequest(broker_id=node_id), 0)
        return None if response is None else int(response.error_code)

    async def update_feature(self, name: str, *, level: int, upgrade_type: int) -> int | None:
        """Changes the level of a feature."""
        update = FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=upgrade_type)
        request = UpdateFeaturesRequest(timeout_ms=_TIMEOUT_MS, feature_updates=[update])
        response = await self._try(request, 2)
        return None if response is None else int(response.error_code)

    async def _try(self, request: Message, version: int) -> Any | None:
        try:
            return await self._client.send_to_any(request, version, timeout_ms=2 * _TIMEOUT_MS)
        except ChannelError:
            return None
