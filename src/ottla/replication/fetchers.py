"""The fetchers of a node, one for each node that leads what this one follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ottla.metadata import NO_LEADER
from ottla.model import NodeId
from ottla.replication.fetch_session import PartitionKey
from ottla.replication.fetcher import Fetcher
from ottla.replication.follower_context import FollowerContext, LeaderPeer
from ottla.replication.partition import Partition
from ottla.runtime.tasks import Tasks


class _Running(NamedTuple):
    fetcher: Fetcher
    peer: LeaderPeer


class Fetchers:
    """Brings partitions to the fetcher of their leader. Owned by the node's loop.

    `open_peer` makes a peer for a leader, which is then the fetcher's own. A fetcher that has
    nothing to fetch waits, and asks its peer for nothing. The fetchers end with `tasks`.
    """

    def __init__(
        self, context: FollowerContext, tasks: Tasks, open_peer: Callable[[NodeId], LeaderPeer]
    ) -> None:
        self._context = context
        self._tasks = tasks
        self._open_peer = open_peer
        self._running: dict[int, _Running] = {}
        self._leaders: dict[PartitionKey, int] = {}

    def __len__(self) -> int:
        """How many partitions are fetched."""
        return len(self._leaders)

    def follow(self, partition: Partition) -> None:
        """Fetches the partition from its leader, from now on and under its present epoch."""
        self.unfollow(partition)
        assert not partition.is_leader, f"this node leads {partition.name}"
        leader = partition.leader
        if leader in (NO_LEADER, self._context.node_id) or partition.log is None:
            return
        self._leaders[_key(partition)] = leader
        self._fetcher_of(leader).add(partition)

    def unfollow(self, partition: Partition) -> None:
        """The partition has another leader, maybe this node, or is no longer here."""
        leader = self._leaders.pop(_key(partition), None)
        if leader is not None:
            self._running[leader].fetcher.remove(partition)

    def close(self) -> None:
        """Ends the connections. Before that, `tasks` has to be closed."""
        for running in self._running.values():
            running.peer.close()

    def _fetcher_of(self, leader: NodeId) -> Fetcher:
        running = self._running.get(leader)
        if running is None:
            peer = self._open_peer(leader)
            running = self._running[leader] = _Running(Fetcher(self._context, peer), peer)
            self._tasks.start(f"fetcher of node {leader}", running.fetcher.run())
        return running.fetcher


def _key(partition: Partition) -> PartitionKey:
    return PartitionKey(partition.topic_id, partition.name.partition)
