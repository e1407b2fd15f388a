"""The Raft configuration, from the node's `controller.quorum.*` configs."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.configs import NodeConfig
from ottla.model import Uuid
from ottla.raft import BootstrapServer, RaftConfig, ReplicaKey, Voter, VoterEndpoint, VoterSet


def raft_config(
    node: NodeConfig, *, cluster_id: str, directory_id: Uuid, endpoints: Sequence[VoterEndpoint]
) -> RaftConfig:
    """`endpoints` are this node's advertised controller listeners."""
    names = node.listeners.controller_names
    voters = VoterSet.of(
        Voter(ReplicaKey(voter.id), (VoterEndpoint(names[0], voter.host, voter.port),))
        for voter in node.controller_quorum_voters
    )
    return RaftConfig(
        cluster_id=cluster_id,
        local=ReplicaKey(node.node_id, directory_id),
        endpoints=tuple(endpoints),
        listener_name=names[0],
        static_voters=voters,
        bootstrap_servers=tuple(
            BootstrapServer(server.host, server.port)
            for server in node.controller_quorum_bootstrap_servers
        ),
        election_timeout_ms=node.controller_quorum_election_timeout_ms,
        fetch_timeout_ms=node.controller_quorum_fetch_timeout_ms,
        fetch_bytes_max=node.controller_quorum_fetch_max_bytes,
        fetch_snapshot_bytes_max=node.controller_quorum_fetch_snapshot_max_bytes,
        election_backoff_max_ms=node.controller_quorum_election_backoff_max_ms,
        request_timeout_ms=node.controller_quorum_request_timeout_ms,
        retry_backoff_ms=node.controller_quorum_retry_backoff_ms,
    )
