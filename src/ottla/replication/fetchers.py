"""The fetchers of a node, one for each leader that it follows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from ottla.channels.fetch_session import PartitionKey
from ottla.metadata import NO_LEADER
from ottla.model import NodeId
from ottla.replication.fetcher import Fetcher
from ottla.replication.follower_context import FollowerContext, LeaderPeer
from ottla.replication.partition import Partition
from ottla.runtime.tasks import Tasks


class _Running(NamedTuple):
    fetcher: Fetcher
    peer: LeaderPeer
    task: asyncio.Task[object]


class Fetchers:
    """Assigns partitions to the fetcher of their leader. Owned by the node's event loop.

    `open_peer` opens a peer to a leader, used only by that leader's fetcher. A fetcher without
    partitions is closed with its connection: a request to a host that is gone may stay unanswered
    for long, and would delay fetching when that node leads again.
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
        """The number of fetched partitions."""
        return len(self._leaders)

    @property
    def by_leader(self) -> list[tuple[int, Fetcher]]:
        """The running fetchers, by the id of the node from which they fetch."""
        return [(leader, running.fetcher) for leader, running in self._running.items()]

    def follow(self, partition: Partition) -> None:
        """Starts fetching the partition from its leader, under its current leader epoch."""
        assert not partition.is_leader, f"this node leads {partition.name}"
        previous, leader = self._remove(partition), partition.leader
        if leader not in (NO_LEADER, self._context.node_id) and partition.log is not None:
            self._leaders[_key(partition)] = leader
            self._fetcher_of(leader).add(partition)
        self._maybe_end(previous)

    def unfollow(self, partition: Partition) -> None:
        """Stops fetching the partition: this node leads it now, or no longer has a replica."""
        self._maybe_end(self._remove(partition))

    def close(self) -> None:
        """Closes the connections. `tasks` must be closed before."""
        for running in self._running.values():
            running.peer.close()

    def _remove(self, partition: Partition) -> int | None:
        """Removes a partition from its fetcher, and returns that fetcher's leader."""
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
