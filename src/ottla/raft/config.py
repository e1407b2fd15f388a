"""What a replica of the quorum is told when it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ottla.raft.voters import (
    NO_VOTERS,
    KRaftVersions,
    ReplicaKey,
    Voter,
    VoterEndpoint,
    VoterSet,
)

# The versions of the quorum's protocol that Ottla speaks: with static voters, and with KIP-853.
SUPPORTED_KRAFT_VERSIONS = KRaftVersions(0, 1)


class ElectionDice(Protocol):
    """As much of `ottla.runtime.dice.Dice` as elections need."""

    def below(self, bound: int) -> int:
        """Any of 0, 1, ... `bound` - 1 alike."""


class BootstrapServer(NamedTuple):
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftConfig:
    """The times have the names and defaults of Kafka's `controller.quorum.*` properties.

    `endpoints` are where this replica listens; `listener_name` says which of a voter's endpoints
    replicas use among themselves. Whoever does not know the leader asks the voters that it knows of
    and the bootstrap servers.
    """

    cluster_id: str
    local: ReplicaKey
    endpoints: tuple[VoterEndpoint, ...]
    listener_name: str = "CONTROLLER"
    static_voters: VoterSet = NO_VOTERS
    bootstrap_servers: tuple[BootstrapServer, ...] = ()
    election_timeout_ms: int = 1000
    fetch_timeout_ms: int = 2000
    election_backoff_max_ms: int = 1000
    request_timeout_ms: int = 2000
    retry_backoff_ms: int = 20
    fetch_wait_ms_max: int = 500
    fetch_bytes_max: int = 1 << 20
    fetch_snapshot_bytes_max: int = 1 << 20

    @property
    def local_voter(self) -> Voter:
        return Voter(self.local, self.endpoints, SUPPORTED_KRAFT_VERSIONS)

    @property
    def check_quorum_timeout_ms(self) -> int:
        """Longer than the followers' own, so that a slow network alone deposes nobody."""
        return self.fetch_timeout_ms * 3 // 2

    @property
    def begin_quorum_epoch_ms(self) -> int:
        """How long a voter may not fetch before the leader makes itself known again."""
        return self.fetch_timeout_ms // 2
