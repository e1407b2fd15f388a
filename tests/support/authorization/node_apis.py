"""What requests of other nodes to a controller need: no other principal can pose as one."""

from __future__ import annotations

from typing import Final

from ottla.security.acls.acl import AclOperation
from ottla.wire.apis import ApiKey
from ottla.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.wire.messages.alter_partition import AlterPartitionRequest
from ottla.wire.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from ottla.wire.messages.begin_quorum_epoch import BeginQuorumEpochRequest
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest
from ottla.wire.messages.controller_registration import ControllerRegistrationRequest
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.end_quorum_epoch import EndQuorumEpochRequest
from ottla.wire.messages.envelope import EnvelopeRequest
from ottla.wire.messages.fetch import FetchRequest
from ottla.wire.messages.fetch_snapshot import FetchSnapshotRequest
from ottla.wire.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from ottla.wire.messages.update_raft_voter import UpdateRaftVoterRequest
from ottla.wire.messages.vote import VoteRequest
from ottla.wire.requests import encode_request
from ottla.wire.schema import Message
from tests.support.authorization.authorized_api import AuthorizedApi, on_cluster


def enveloped(
    request: Message, principal: bytes | None = None, address: bytes = b""
) -> EnvelopeRequest:
    parts = encode_request(
        request, request.versions.highest, correlation_id=7, client_id="forwarding"
    )
    return EnvelopeRequest(
        request_data=b"".join(parts)[4:],
        request_principal=principal,
        client_host_address=address,
    )


def _of_nodes(key: ApiKey, cls: type[Message]) -> AuthorizedApi:
    needed = (on_cluster(AclOperation.CLUSTER_ACTION),)
    return AuthorizedApi(key, lambda _node: cls(), needed, served=None)


NODE_APIS: Final = (
    _of_nodes(ApiKey.VOTE, VoteRequest),
    _of_nodes(ApiKey.BEGIN_QUORUM_EPOCH, BeginQuorumEpochRequest),
    _of_nodes(ApiKey.END_QUORUM_EPOCH, EndQuorumEpochRequest),
    _of_nodes(ApiKey.FETCH, FetchRequest),
    _of_nodes(ApiKey.FETCH_SNAPSHOT, FetchSnapshotRequest),
    _of_nodes(ApiKey.UPDATE_RAFT_VOTER, UpdateRaftVoterRequest),
    _of_nodes(ApiKey.CONTROLLER_REGISTRATION, ControllerRegistrationRequest),
    _of_nodes(ApiKey.BROKER_REGISTRATION, BrokerRegistrationRequest),
    _of_nodes(ApiKey.BROKER_HEARTBEAT, BrokerHeartbeatRequest),
    _of_nodes(ApiKey.ALTER_PARTITION, AlterPartitionRequest),
    _of_nodes(ApiKey.ALLOCATE_PRODUCER_IDS, AllocateProducerIdsRequest),
    _of_nodes(ApiKey.ASSIGN_REPLICAS_TO_DIRS, AssignReplicasToDirsRequest),
    AuthorizedApi(
        ApiKey.ENVELOPE,
        lambda _node: enveloped(ListPartitionReassignmentsRequest()),
        (on_cluster(AclOperation.CLUSTER_ACTION),),
    ),
    AuthorizedApi(
        ApiKey.DESCRIBE_CLUSTER,
        lambda _node: DescribeClusterRequest(endpoint_type=2),
        (on_cluster(AclOperation.ALTER),),
    ),
)
