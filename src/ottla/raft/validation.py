"""Checks and fields that requests and responses of all types have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ottla.model import ZERO_UUID, ErrorCode, Uuid
from ottla.raft.messages import NO_REPLICA_ID
from ottla.raft.quorum import Quorum
from ottla.raft.states import Leader
from ottla.raft.voters import VoterEndpoint


class NodeEndpoint(Protocol):
    """The structs of this name in the responses."""

    node_id: int
    host: str
    port: int


class NamedEndpoint(Protocol):
    """The listener structs in the requests."""

    name: str
    host: str
    port: int


def has_other_cluster_id(quorum: Quorum, cluster_id: str | None) -> bool:
    """The cluster id is optional."""
    return cluster_id is not None and cluster_id != quorum.config.cluster_id


def voter_request_error(quorum: Quorum, replica_id: int, *, epoch: int) -> ErrorCode:
    """Checks a request that starts or ends a leadership, or asks for a vote."""
    if epoch < quorum.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if replica_id < 0 or replica_id == quorum.local.id:
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.NONE


def leader_request_error(quorum: Quorum, *, epoch: int) -> ErrorCode:
    """Checks a request that only the leader of its epoch can serve."""
    if epoch < quorum.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if epoch > quorum.epoch:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    if not isinstance(quorum.state, Leader):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.NONE


def is_for_other_replica(quorum: Quorum, voter_id: int, directory_id: Uuid) -> bool:
    """Whether a request was meant for the replica that previously had this address or this disk."""
    if voter_id == NO_REPLICA_ID:
        return False
    if voter_id != quorum.local.id:
        return True
    return directory_id not in (ZERO_UUID, quorum.local.directory_id)


def leader_endpoint(
    quorum: Quorum, leader_id: int, endpoints: Iterable[NodeEndpoint]
) -> VoterEndpoint | None:
    """The leader's address according to a response."""
    for each in endpoints:
        if each.node_id == leader_id:
            return VoterEndpoint(quorum.config.listener_name, each.host, each.port)
    return None


def listener_endpoint(quorum: Quorum, endpoints: Iterable[NamedEndpoint]) -> VoterEndpoint | None:
    """The sender's address for other replicas according to a request."""
    for each in endpoints:
        if each.name == quorum.config.listener_name:
            return VoterEndpoint(each.name, each.host, each.port)
    return None
