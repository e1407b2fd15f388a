"""The fetchers of a node, one for each node that leads what this one follows."""

from __future__ import annotations

import asyncio
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
    task: asyncio.Task[object]


class Fetchers:
    """Brings partitions to the fetcher of their leader. Owned by the node's loop.

    `open_peer` makes a peer for a leader, which is then the fetcher's own. A fetcher that has
    nothing left to fetch ends, with its connection: what it asked a node whose host is gone may
    have no answer for long, and would hold up whatever that node leads when it is back.
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
        assert not partition.is_leader, f"this node leads {partition.name}"
        previous, leader = self._remove(partition), partition.leader
        if leader not in (NO_LEADER, self._context.node_id) and partition.log is not None:
            self._leaders[_key(partition)] = leader
            self._fetcher_of(leader).add(partition)
        self._maybe_end(previous)

    def unfollow(self, partition: Partition) -> None:
        """The partition has another leader, maybe this node, or is no longer here."""
        self._maybe_end(self._remove(partition))

    def close(self) -> None:
        """Ends the connections. Before that, `tasks` has to be closed."""
        for running in self._running.values():
            running.peer.close()

    def _remove(self, partition: Partition) -> int | None:
        """Takes a partition from its fetcher, and says which leader that one is for."""
        leader = self._leaders.pop(_key(partition), None)
        if leader in self._running:
            self._running[leader].fetcher.remove(partition)
        return leader

    def _maybe_end(self, leader: int | None) -> None:
        if leader in self._running and not len(self._running[leader].fetcher):
            running = self._running.pop(leader)
            running.task.cancel()
            running.peer.close()

    def _fetcher_of(self, leader: NodeId) -> Fetcher:
        running = self._running.get(leader)
        if running is None:
            peer = self._open_peer(leader)
            fetcher = Fetcher(self._context, peer)
            task = self._tasks.start(f"fetcher of node {leader}", fetcher.run())
            running = self._running[leader] = _Running(fetcher, peer, task)
        return running.fetcher


def _key(partition: Partition) -> PartitionKey:
    return PartitionKey(partition.topic_id, partition.name.partition)
