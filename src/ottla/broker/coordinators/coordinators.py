"""The coordinators of a node, by the internal topic with their state.

Their state machines are imported when this node first leads a partition of such a topic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.group_coordinators import GroupCoordinators
from ottla.broker.coordinators.share_coordinators import ShareCoordinators
from ottla.broker.coordinators.transaction_coordinators import TransactionCoordinators
from ottla.metadata import MetadataDelta
from ottla.replication.partition import Partition

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator
    from ottla.coordinator.shares.coordinator import ShareCoordinator
    from ottla.coordinator.transactions.coordinator import TransactionCoordinator


class Coordinators:
    """A `LeadershipListener`. Owned by the node's loop."""

    def __init__(
        self,
        groups: GroupCoordinators,
        transactions: TransactionCoordinators,
        shares: ShareCoordinators,
    ) -> None:
        self._groups = groups
        self._transactions = transactions
        self._shares = shares
        self._by_topic: dict[str, CoordinatorShards[Any]] = {
            shards.topic: shards for shards in (groups.shards, transactions.shards, shares.shards)
        }

    @property
    def groups(self) -> CoordinatorShards[GroupCoordinator]:
        return self._groups.shards

    @property
    def transactions(self) -> CoordinatorShards[TransactionCoordinator]:
        return self._transactions.shards

    @property
    def shares(self) -> CoordinatorShards[ShareCoordinator]:
        return self._shares.shards

    def follow(self, partition: Partition) -> None:
        shards = self._by_topic.get(partition.name.topic)
        if shards is not None:
            shards.follow(partition)

    def forget(self, partition: Partition) -> None:
        shards = self._by_topic.get(partition.name.topic)
        if shards is not None:
            shards.forget(partition)

    def apply(self, delta: MetadataDelta) -> None:
        """Called with every metadata delta."""
        if delta.partitions_changed:
            self._transactions.leaders_changed()
        self._groups.apply(delta)
        self._shares.apply(delta)

    def start(self) -> None:
        self._groups.start()
        self._transactions.start()
        self._shares.start()

    def close(self) -> None:
        for shards in self._by_topic.values():
            shards.close()
