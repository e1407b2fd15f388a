"""A client that sends requests for which it has hardly any rights: it poses as a replica, a broker,
a coordinator and an administrator.

What is served because of a bug would do harm, so other claims may find it too. What ACLs may allow
for a while is harmless. The responses are ignored: the nodes' side is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from ottla.channels.errors import ChannelError
from ottla.model import TopicPartition
from ottla.runtime.network import Address
from ottla.security.principal import USER, Principal, encode_principal
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.world.host import Host
from ottla.wire.messages.alter_partition import AlterPartitionRequest
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.create_delegation_token import CreateDelegationTokenRequest
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.describe_acls import DescribeAclsRequest
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.envelope import EnvelopeRequest
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from ottla.wire.messages.vote import VoteRequest
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from ottla.wire.requests import encode_request
from ottla.wire.schema import Message

_PAUSE_MS_MAX: Final = 800
_TIMEOUT_MS: Final = 5_000
_FETCH_BYTES: Final = 1_000
# An id that no producer has.
_PRODUCER_ID: Final = 1 << 40
_CREATE_TOPICS_VERSION: Final = 7
_NO_EPOCH: Final = -1
_ANY: Final = 1
_MakeRequest = Callable[[], tuple[Message, int]]


class SimulatedGuest:
    """Belongs to the process of its host. `run` never returns."""

    def __init__(
        self,
        host: Host,
        brokers: Sequence[Address],
        controllers: Sequence[Address],
        partition: TopicPartition,
        *,
        transactional_id: str,
        group: str,
        victim: str,
    ) -> None:
        """`victim` is another user."""
        self._host = host
        self._client = ClusterClient(host, brokers, name="guest")
        self._brokers = list(brokers)
        self._controllers = list(controllers)
        self._dice = host.dice.fork("guest requests")
        self._partition = partition
        self._transactional_id = transactional_id
        self._group = group
        self._victim = victim
        self._topics = 0

    async def run(self) -> None:
        while True:
            await self._host.clock.sleep(self._dice.below(_PAUSE_MS_MAX) / 1_000)
            request, version = self._dice.choice(self._requests_of_clients)()
            addresses = self._brokers
            if self._dice.chance(0.3):
                request, version = self._dice.choice(self._requests_of_nodes)()
                addresses = self._controllers
            with suppress(ChannelError):
                await self._client.send_to_address(
                    self._dice.choice(addresses), request, version, timeout_ms=_TIMEOUT_MS
                )

    @property
    def _requests_of_clients(self) -> tuple[_MakeRequest, ...]:
        return (
            lambda: (self._fetch(), 12),
            lambda: (self._fetch_as_replica(), 15),
            lambda: (self._list_offsets(), 8),
            lambda: (self._metadata(), 12),
            lambda: (FindCoordinatorRequest(coordinator_keys=[self._group]), 4),
            lambda: (OffsetFetchRequest(groups=[self._offsets_of_group()]), 9),
            lambda: (HeartbeatRequest(group_id=self._group, member_id="nobody"), 4),
            lambda: (InitProducerIdRequest(transactional_id=None), 4),
            lambda: (self._end_transaction(), 4),
            lambda: (self._marker(), 1),
            lambda: (self._describe_acls(), 3),
            lambda: (self._create_topic(), _CREATE_TOPICS_VERSION),
            lambda: (self._delete_credential(), 0),
            lambda: (self._create_token(), 3),
        )

    @property
    def _requests_of_nodes(self) -> tuple[_MakeRequest, ...]:
        return (
            lambda: (VoteRequest(), 2),
            lambda: (BrokerHeartbeatRequest(broker_id=1, want_shut_down=True), 1),
            lambda: (AlterPartitionRequest(broker_id=1), 3),
            lambda: (self._envelope(), 0),
            lambda: (self._create_topic(), _CREATE_TOPICS_VERSION),
        )

    def _fetch(self) -> FetchRequest:
        wanted = FetchPartition(
            partition=self._partition.partition, partition_max_bytes=_FETCH_BYTES
        )
        topic = FetchTopic(topic=self._partition.topic, partitions=[wanted])
        return FetchRequest(session_epoch=_NO_EPOCH, topics=[topic])

    def _fetch_as_replica(self) -> FetchRequest:
        request = self._fetch()
        request.replica_state = ReplicaState(replica_id=1)
        return request

    def _list_offsets(self) -> ListOffsetsRequest:
        wanted = ListOffsetsPartition(partition_index=self._partition.partition, timestamp=-1)
        topic = ListOffsetsTopic(name=self._partition.topic, partitions=[wanted])
        return ListOffsetsRequest(replica_id=-1, topics=[topic])

    def _metadata(self) -> MetadataRequest:
        topic = MetadataRequestTopic(name=self._partition.topic)
        return MetadataRequest(topics=[topic], allow_auto_topic_creation=False)

    def _offsets_of_group(self) -> OffsetFetchRequestGroup:
        return OffsetFetchRequestGroup(group_id=self._group, topics=[])

    def _end_transaction(self) -> EndTxnRequest:
        return EndTxnRequest(
            transactional_id=self._transactional_id, producer_id=_PRODUCER_ID, committed=True
        )

    def _marker(self) -> WriteTxnMarkersRequest:
        topic = WritableTxnMarkerTopic(
            name=self._partition.topic, partition_indexes=[self._partition.partition]
        )
        marker = WritableTxnMarker(producer_id=_PRODUCER_ID, topics=[topic])
        return WriteTxnMarkersRequest(markers=[marker])

    def _describe_acls(self) -> DescribeAclsRequest:
        return DescribeAclsRequest(
            resource_type_filter=_ANY,
            resource_name_filter=None,
            pattern_type_filter=_ANY,
            principal_filter=None,
            host_filter=None,
            operation=_ANY,
            permission_type=_ANY,
        )

    def _create_topic(self) -> CreateTopicsRequest:
        self._topics += 1
        topic = CreatableTopic(name=f"guest-{self._topics}", num_partitions=1, replication_factor=3)
        return CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS)

    def _delete_credential(self) -> AlterUserScramCredentialsRequest:
        deletion = ScramCredentialDeletion(name=self._victim, mechanism=1)
        return AlterUserScramCredentialsRequest(deletions=[deletion])

    def _create_token(self) -> CreateDelegationTokenRequest:
        return CreateDelegationTokenRequest(
            owner_principal_type=USER, owner_principal_name=self._victim, max_lifetime_ms=-1
        )

    def _envelope(self) -> EnvelopeRequest:
        """A request in the name of another user."""
        parts = encode_request(
            self._create_topic(), _CREATE_TOPICS_VERSION, correlation_id=1, client_id="guest"
        )
        return EnvelopeRequest(
            request_data=b"".join(parts)[4:],
            request_principal=encode_principal(Principal(USER, self._victim)),
            client_host_address=bytes(4),
        )
