"""The configuration of a replica of the quorum."""

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

# The kraft.version levels that Ottla supports: 0 (static voters) and 1 (KIP-853).
SUPPORTED_KRAFT_VERSIONS = KRaftVersions(0, 1)


class ElectionDice(Protocol):
    """The part of `ottla.runtime.dice.Dice` that elections use."""

    def below(self, bound: int) -> int:
        """A uniformly random integer from 0 to `bound` - 1."""


class BootstrapServer(NamedTuple):
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftConfig:
    """The timeouts have the names and defaults of Kafka's `controller.quorum.*` properties.

    `endpoints` are the listeners of this replica; `listener_name` is the listener that replicas use
    among themselves. A replica without a known leader sends its fetches to the known voters and the
    bootstrap servers.
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
        """Longer than the followers' fetch timeout, so that a slow network alone does not depose
        the leader."""
        return self.fetch_timeout_ms * 3 // 2

    @property
    def begin_quorum_epoch_ms(self) -> int:
        """After this long without a fetch from a voter, the leader sends it BeginQuorumEpoch
        again."""
        return self.fetch_timeout_ms // 2
