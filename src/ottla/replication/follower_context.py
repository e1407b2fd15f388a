"""What the fetchers of a node need: limits, the node's services, and a peer to fetch from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ottla.model import NodeId
from ottla.replication.partition import Partition
from ottla.replication.throttle import NoThrottle, ReplicationThrottle
from ottla.runtime.clock import Clock
from ottla.storage.log.group_commit import GroupCommit
from ottla.wire.schema import Message


class LeaderPeer(Protocol):
    """The connection to a leader, implemented by `ottla.channels.Peer`. Only the fetcher may send
    through it, because a waiting fetch delays the requests after it."""

    async def send(self, request: Message, version: int, *, timeout_ms: int) -> Any: ...

    def close(self) -> None: ...


class FetchLimits(NamedTuple):
    """Kafka's `replica.fetch.*` and `replica.socket.timeout.ms`."""

    bytes_max: int = 1_048_576
    response_bytes_max: int = 10_485_760
    bytes_min: int = 1
    wait_ms_max: int = 500
    backoff_ms_max: int = 1_000
    socket_timeout_ms: int = 30_000


@dataclass(frozen=True, slots=True)
class FollowerContext:
    """What the fetchers of a node share."""

    node_id: NodeId
    broker_epoch: Callable[[], int]
    clock: Clock
    commit: GroupCommit
    # Takes the partition's log directory offline, if the directory has failed.
    storage_failed: Callable[[Partition, OSError], object]
    limits: FetchLimits = field(default_factory=FetchLimits)
    throttle: ReplicationThrottle = field(default_factory=NoThrottle)
